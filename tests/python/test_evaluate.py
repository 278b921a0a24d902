"""Parameters judged by recordings: the numbers of the program, from files and from arrays."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import CUBE

import stiction

SLIDES = Path(__file__).parents[2] / "examples" / "slides"
EXPERIMENT = SLIDES / "experiment.toml"
# What the program says of itself, and of files that it was given by options.
HEAD = {"program", "version", "command", "seed", "threads", "scene", "parameters", "compare"}


def of_program(*arguments):
    """What the program prints."""
    program = os.environ.get("STICTION_PROGRAM")
    if program is None:
        pytest.skip("compared with the program: STICTION_PROGRAM names none")
    run = subprocess.run([program, "evaluate", *map(str, arguments), "--json"], capture_output=True, text=True)
    assert run.stdout, run.stderr
    return {name: value for name, value in json.loads(run.stdout).items() if name not in HEAD}


@pytest.fixture
def result(tmp_path):
    path = tmp_path / "result.json"
    path.write_text('{"parameters": [{"name": "floor-box/mu", "value": 0.2}]}')
    return path


@pytest.mark.parametrize("initial", ["recorded", "flight"])
def test_an_evaluation_has_the_numbers_of_the_program(result, initial):
    parts = [SLIDES / "slide_1.csv", SLIDES / "slide_[34].csv"]
    expected = of_program(EXPERIMENT, "--data", *parts, "--parameters", result, "--compare", SLIDES / "scene.toml", "--initial", initial)
    found = stiction.evaluate(EXPERIMENT, parts, parameters=result, compare=SLIDES / "scene.toml", initial=initial, threads=1)
    assert found == expected
    assert found["count"] == 3 and len(found["trajectories"]) == 3
    assert found["comparison"]["position_percent"]["before"] != found["position_error_percent"]


def test_parameters_come_from_anywhere(result):
    from_file = stiction.evaluate(EXPERIMENT, parameters=result, compare={"floor-box/mu": 0.3})
    scene = stiction.load(SLIDES / "scene.toml")
    scene.parameters["floor-box/mu"] = 0.2
    from_scene = stiction.evaluate(EXPERIMENT, parameters=scene, compare=SLIDES / "scene.toml")
    of_scene = stiction.evaluate(EXPERIMENT, scene=scene)
    for name in ("position_error_percent", "rotation_error_deg", "summary", "solver"):
        assert from_file[name] == from_scene[name] == of_scene[name]
    assert "comparison" not in of_scene
    pairs = from_file["comparison"]["position_percent"], from_scene["comparison"]["position_percent"]
    assert pairs[0]["before"] != pairs[1]["before"] and pairs[0]["now"] == pairs[1]["now"] == from_file["position_error_percent"]
    errors = [t["position_error_percent"] for t in from_file["trajectories"]]
    summary = from_file["summary"]["position_error_percent"]
    assert summary["median"] == pytest.approx(np.median(errors)) and summary["mean"] == pytest.approx(np.mean(errors))
    assert summary["largest"]["error"] == max(errors) and summary["least"]["error"] == min(errors)
    assert summary["largest"]["name"] == from_file["trajectories"][int(np.argmax(errors))]["name"]


def test_a_scene_and_arrays_need_no_experiment(cube, tmp_path):
    x0, t = cube.x0, 0.01 * np.arange(41)
    x0[7] = 1
    X = cube.rollout(x0, steps=40, p=[0.2, 1.0])
    right = stiction.evaluate(recordings=(t, X), scene=cube, parameters={"floor-cube/mu": 0.2})
    assert right["position_error_percent"] < 1e-9 and right["experiment"] == "cube.toml" and right["count"] == 1
    wrong = stiction.evaluate(recordings=[(t, X)] * 2, scene=cube, compare={"floor-cube/mu": 0.2})
    # In % of 1 m, over all frames, the first one included.
    off = np.linalg.norm(cube.rollout(x0, steps=40)[:, :3] - X[:, :3], axis=1).mean()
    assert wrong["position_error_percent"] == pytest.approx(100 * off, rel=1e-6)
    assert wrong["comparison"]["position_percent"]["worse"] == 2
    start = {"name": "floor-cube/mu", "start": 0.4, "lower": 0.01, "upper": 1.5}
    fit = stiction.identify({"parameter": [start], "noise": {"position": 0.001, "rotation_deg": 0.1}}, (t, X), scene=cube)
    fitted = stiction.evaluate(recordings=(t, X), scene=cube, parameters=fit)
    assert fitted["position_error_percent"] < 1e-3 * wrong["position_error_percent"]
    # What an experiment ties to a parameter goes with it, unless it is named itself.
    names = ["cube/inertia/xx", "cube/inertia/yy", "cube/inertia/zz"]
    tied = {"parameter": [{"name": names[0], "tied": names[1:], "start": 0.003, "lower": 1e-4, "upper": 0.1}]}

    thrown = cube.x0
    thrown[2], thrown[10:13] = 2, (3, 2, 1)
    flight = t[:21], cube.rollout(thrown, steps=20)

    def error(values):
        found = stiction.evaluate(tied, flight, scene=cube, parameters=dict(zip(names, values)))
        return found["rotation_error_deg"]

    assert error([0.02]) == error([0.02] * 3) != error([0.02, 0.003, 0.003])
    # The same from a file, by the program's own way.
    (tmp_path / "cube.toml").write_text(CUBE)
    header = ",".join(["t", *cube.state_names])
    np.savetxt(tmp_path / "a.csv", np.column_stack([t, X]), delimiter=",", header=header, comments="", fmt="%.17g")
    from_file = stiction.evaluate(recordings=[tmp_path / "a.csv"], scene=stiction.load(tmp_path / "cube.toml"))
    assert from_file["position_error_percent"] == wrong["position_error_percent"]
    assert from_file == of_program("--scene", tmp_path / "cube.toml", "--data", tmp_path / "a.csv")


def test_what_is_wrong_with_rollouts_is_a_warning(cube):
    # Thrown into the floor.
    x0 = cube.x0
    x0[2], x0[9] = -0.3, -5
    X = np.tile(x0, (3, 1))
    with pytest.warns(stiction.ImplausibleWarning, match="recording 0: .*is not plausible|are not plausible"):
        found = stiction.evaluate(recordings=(0.01 * np.arange(3), X), scene=cube)
    assert found["trajectories"][0]["implausible"]["body"] == "cube"


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda s: stiction.evaluate(), "experiment: is missing: an experiment, or scene=.. with recordings"),
        (lambda s: stiction.evaluate(scene=s), "experiment: is missing"),
        (lambda s: stiction.evaluate("nowhere.toml"), "nowhere.toml: No such file"),
        (lambda s: stiction.evaluate(EXPERIMENT, "nowhere/*.csv"), "nowhere"),
        (lambda s: stiction.evaluate(EXPERIMENT, 3), "recordings: must be files or arrays, found int"),
        (lambda s: stiction.evaluate(EXPERIMENT, initial="start"), 'initial: must be "recorded" or "flight", found "start"'),
        (lambda s: stiction.evaluate(EXPERIMENT, threads=0), "threads: must be a whole number of at least 1"),
        (lambda s: stiction.evaluate(EXPERIMENT, parameters=3), "parameters: must be a file, a mapping .*, found int"),
        (lambda s: stiction.evaluate(EXPERIMENT, compare={"a": "b"}), "compare: values must be numbers"),
        (lambda s: stiction.evaluate(EXPERIMENT, compare={"box/nu": 1}), "compare: box/nu: is no parameter; .*floor-box/mu"),
        (lambda s: stiction.evaluate(EXPERIMENT, parameters={"box/mass": -1}), "parameters: box/mass: cannot be -1"),
        (lambda s: stiction.evaluate(EXPERIMENT, parameters=s), "cube.toml: is another scene than that of .*experiment.toml"),
        (lambda s: stiction.evaluate(EXPERIMENT, parameters=SLIDES / "slide_1.csv"), "slide_1.csv:1: "),
        (lambda s: stiction.evaluate(recordings=[], scene=s), "there are no recordings"),
        (lambda s: stiction.evaluate(recordings={"t": [0, 0.01], "box/px": [0, 0]}, scene=s), "box/px"),
    ],
)
def test_errors_say_what_is_wrong(cube, call, message):
    with pytest.raises(stiction.Error, match=message):
        call(cube)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, stiction

scene = stiction.parse(sys.argv[1])
x = scene.x0
x[7] = 1
X = scene.rollout(x, steps=20_000)
recordings = [(0.01 * np.arange(len(X)), X)] * 200
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    global sent
    time.sleep(0.5)
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
try:
    stiction.evaluate(recordings=recordings, scene=scene, threads=1)
except KeyboardInterrupt:
    print(time.monotonic() - sent)
    assert scene.step(x).shape == x.shape
"""


def test_ctrl_c_ends_an_evaluation():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, CUBE], timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.0
