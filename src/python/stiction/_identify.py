"""Identification from files, or from what is in memory."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _given, _stiction
from ._stiction import Identification, Scene


def identify(
    experiment: str | os.PathLike[str] | Mapping[str, Any],
    recordings: str | os.PathLike[str] | Iterable[Any] | None = None,
    *,
    scene: Scene | None = None,
    threads: int | None = None,
    comm: Any = None,
) -> Identification:
    """Finds parameters of a scene from recorded motion; an `Identification`.

    experiment: the path of an experiment file (TOML), or a mapping with its fields, such as

        {"parameter": [{"name": "floor-box/mu", "start": 0.5, "lower": 0.01, "upper": 1.5}],
         "initial_state": "fitted", "noise": {"position": 0.001, "rotation_deg": 0.2}}

    recordings: in place of the files it names, files, folders or patterns, one or a list; or one recording or a sequence, each
    a pair (t, X) of times (N), s, and states (N, nq + nv), or (N, nq) without velocities; or a mapping from names of
    columns to arrays. NaN is what was not measured. Arrays are handed over as they are.
    scene: a `Scene` in place of the one that the file names, with the parameters it has now; a mapping names none beside it.

    comm: processes that work together, such as `mpi4py.MPI.COMM_WORLD`, or anything with `Get_rank`, `Get_size` and `allgather`
    (which is called with bytes). All of them call this with the same arguments; each works on its share of the recordings,
    and all get the result. The first one warns.

    The same bits come out on any number of threads and processes.
    """
    try:
        arguments = _given.experiment_of(experiment), scene, _given.recordings_of(recordings, scene), (threads, comm)
    except BaseException as error:
        _give_up(comm, error)
        raise
    try:
        return _stiction.identify(*arguments)
    except TypeError as error:
        # Of what the compiled part does not even take.
        _give_up(comm, error)
        raise


def _give_up(comm, error):
    """Tells the others, who wait for this process."""
    if comm is not None:
        with contextlib.suppress(Exception):
            _stiction._gave_up(comm, str(error) or type(error).__name__)
