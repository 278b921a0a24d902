"""Identification by several processes of Python: threads that gather like them, and mpi4py under mpirun."""

import json
import os
import shutil
import subprocess
import sys
import threading

import pytest
from test_identify import EXPERIMENT, SLIDES, recordings

import stiction


class Member:
    """One of several threads that gather like processes."""

    def __init__(self, rank, given, barrier):
        self.rank, self.given, self.barrier = rank, given, barrier

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return len(self.given)

    def allgather(self, own):
        assert isinstance(own, bytes)
        self.given[self.rank] = own
        self.barrier.wait(60)
        everything = list(self.given)
        self.barrier.wait(60)
        return everything


def on_processes(count, work):
    given, barrier, found = [None] * count, threading.Barrier(count), [None] * count

    def run(rank):
        try:
            found[rank] = work(Member(rank, given, barrier))
        except BaseException as error:
            found[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def numbers(found):
    spread = found.standard_errors, found.intervals, found.profiles
    return found.values, *spread, found.loss, found.iterations, found.score_tests


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_same_bits_by_any_number_of_processes(cube, random, count):
    arrays = recordings(cube, random, 0.2, 1e-3)
    experiment = {**EXPERIMENT, "initial_state": "fitted"}
    alone = stiction.identify(experiment, arrays, scene=cube)
    for found in on_processes(count, lambda comm: stiction.identify(experiment, arrays, scene=cube, comm=comm)):
        assert numbers(found) == numbers(alone)
        # Five processes for three recordings are told.
        few = [warning for warning in found.warnings if "nothing to do" in warning]
        assert len(few) == (count > 3) and [w for w in found.warnings if w not in few] == alone.warnings


def test_what_is_no_communicator_is_refused():
    class Half:
        def Get_rank(self):
            return 0

        def Get_size(self):
            return 1

    with pytest.raises(stiction.Error, match="Get_rank, Get_size and allgather.*without allgather"):
        stiction.identify(SLIDES / "experiment.toml", comm=Half())
    with pytest.raises(stiction.Error, match="without Get_rank"):
        stiction.identify(SLIDES / "experiment.toml", comm=3)

    class Odd(Half):
        def Get_rank(self):
            return 4

        def allgather(self, own):
            return [own]

    with pytest.raises(stiction.Error, match="not below Get_size"):
        stiction.identify(SLIDES / "experiment.toml", comm=Odd())


def test_processes_that_differ_and_gathers_that_fail_are_told(cube, random):
    arrays = recordings(cube, random, 0.2, 1e-3)

    def differing(comm):
        start = 0.6 if comm.rank == 0 else 0.7
        experiment = {**EXPERIMENT, "parameter": [{**EXPERIMENT["parameter"][0], "start": start}]}
        return stiction.identify(experiment, arrays, scene=cube, comm=comm)

    for found in on_processes(2, differing):
        assert isinstance(found, stiction.Error) and "another experiment" in str(found)

    def wrong(comm):
        return stiction.identify(EXPERIMENT, arrays, scene=cube, comm=comm, threads=comm.rank + 1 if comm.rank else 0)

    found = on_processes(3, wrong)
    assert all(isinstance(each, stiction.Error) and "threads" in str(each) for each in found)
    assert "at process 0 of 3" in str(found[1])

    def odd(comm):
        own = [{"t": "what"}] if comm.rank == 1 else arrays
        return stiction.identify(EXPERIMENT, own, scene=cube, comm=comm)

    found = on_processes(2, odd)
    assert "at process 1 of 2" in str(found[0])
    assert all(isinstance(each, stiction.Error) and "real numbers" in str(each) for each in found)

    def strange(comm):
        return stiction.identify(EXPERIMENT, arrays, scene=3 if comm.rank else cube, comm=comm)

    found = on_processes(2, strange)
    assert "at process 1 of 2" in str(found[0]) and isinstance(found[1], (TypeError, AttributeError))

    def fewer(comm):
        return stiction.identify(EXPERIMENT, arrays[comm.rank :], scene=cube, comm=comm)

    for found in on_processes(2, fewer):
        assert isinstance(found, stiction.Error) and "process 1 finds 2 recordings, process 0 3" in str(found)

    def failing(comm):
        whole, calls = comm.allgather, []

        def allgather(own):
            calls.append(own)
            # Of one process only, and once: the others are told with what comes next.
            if len(calls) == 13 and comm.rank == 1:
                raise RuntimeError("the cable is out")
            return whole(own)

        comm.allgather = allgather
        return stiction.identify(EXPERIMENT, arrays, scene=cube, comm=comm)

    for found in on_processes(2, failing):
        assert isinstance(found, stiction.Error) and "the cable is out" in str(found)


SCRIPT = """
import json, sys
from mpi4py import MPI
import stiction

found = stiction.identify(sys.argv[1], threads=1, comm=MPI.COMM_WORLD)
everything = MPI.COMM_WORLD.gather([found.values, found.intervals, found.loss.hex()])
if MPI.COMM_WORLD.Get_rank() == 0:
    assert all(each == everything[0] for each in everything)
    print(json.dumps(everything[0]))
"""


@pytest.mark.parametrize("count", [1, 2, 3])
def test_mpi4py(tmp_path, count):
    required = os.environ.get("STICTION_REQUIRE_MPI") == "1"
    if not shutil.which("mpirun") and not required:
        pytest.skip("there is no mpirun")
    there = subprocess.run([sys.executable, "-c", "from mpi4py import MPI"], capture_output=True, text=True)
    if there.returncode and not required:
        pytest.skip(f"mpi4py does not work here: {there.stderr.strip().splitlines()[-1:]}")
    script = tmp_path / "fit.py"
    script.write_text(SCRIPT)
    experiment = SLIDES / "experiment.toml"
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = ["mpirun", "--oversubscribe", "-n", str(count), sys.executable, "-m", "mpi4py", str(script), str(experiment)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **root}, timeout=300)
    assert done.returncode == 0, done.stderr
    alone = stiction.identify(experiment)
    values, intervals, loss = json.loads(done.stdout.strip().splitlines()[-1])
    assert values == alone.values and loss == alone.loss.hex()
    assert {name: tuple(ends) for name, ends in intervals.items()} == alone.intervals
    program = os.environ.get("STICTION_PROGRAM")
    if not program:
        pytest.skip("compared with the module alone: STICTION_PROGRAM names no program")
    command = [program, "identify", str(experiment), "-o", str(tmp_path / "fit"), "--threads", "1"]
    command = ["mpirun", "--oversubscribe", "-n", str(count), *command] if count > 1 else command
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **root}, timeout=300)
    written = json.loads((tmp_path / "fit" / "result.json").read_text())
    assert {each["name"]: each["value"] for each in written["parameters"]} == values
    assert written["loss"].hex() == loss
