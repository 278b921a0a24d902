"""Identification from files and from arrays."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import CUBE

import stiction

SLIDES = Path(__file__).parents[2] / "examples" / "slides"
EXPERIMENT = {
    "parameter": [{"name": "floor-cube/mu", "start": 0.6, "lower": 0.01, "upper": 1.5}],
    "noise": {"position": 0.001, "rotation_deg": 0.1},
}


def recordings(cube, random, mu, noise):
    """Slides of the cube with a coefficient of friction; positions are noisy, velocities left out."""
    found = []
    for speed in (0.8, 1.0, 1.2):
        x0 = cube.x0
        x0[7] = speed
        q = cube.rollout(x0, p=[mu, 1.0], steps=60)[:, :7]
        q[:, :3] += noise * random.standard_normal((61, 3))
        found.append((0.01 * np.arange(61), q))
    return found


def test_friction_from_files():
    # The recordings come from another simulator, with mu = 0.3.
    result = stiction.identify(SLIDES / "experiment.toml")
    assert result.converged and result.status == "converged" and result.names == ["floor-box/mu"]
    error = result.standard_errors["floor-box/mu"]
    assert abs(result.values["floor-box/mu"] - 0.3) < min(4 * error, 0.01)
    low, high = result.intervals["floor-box/mu"]
    assert low < result.values["floor-box/mu"] < high
    assert result.loss < result.loss_at_start and result.rollouts > 0 and result.iterations > 0
    assert result.correlations.tolist() == [[1.0]] and result.correlated == result.names


def test_friction_from_arrays(cube, random):
    experiment = {**EXPERIMENT, "initial_state": "fitted"}
    found = stiction.identify(experiment, recordings(cube, random, 0.2, 1e-3), scene=cube)
    assert found.converged and abs(found.values["floor-cube/mu"] - 0.2) < 0.005
    again = stiction.identify(experiment, recordings(cube, np.random.default_rng(1), 0.2, 1e-3), scene=cube, threads=2)
    assert again.values == found.values


@pytest.mark.parametrize(
    ("kind", "message"), [("parquet", "built without.*--features parquet"), ("mcap", "is not MCAP: it does not begin as such files do")]
)
def test_what_is_not_read_is_told(tmp_path, cube, kind, message):
    (tmp_path / f"all.{kind}").write_bytes(b"PAR1....PAR1")
    experiment = tmp_path / "e.toml"
    experiment.write_text(f"""data = ['all.{kind}']
[noise]
position = 0.001
[[parameter]]
name = 'floor-cube/mu'
start = 0.6
lower = 0.01
upper = 1.5
""")
    with pytest.raises(stiction.Error, match=message):
        stiction.identify(experiment, scene=cube)


def test_what_is_held_wrong_is_named(random):
    text = """
simulation.time_step = 0.01
[[body]]
name = "link"
position = [0, 0, 2]
mass = 0.1
inertia = [2e-4, 2e-4, 1e-4]
center_of_mass = [0, 0, -0.05]
joint = { type = "revolute", axis = [0, 1, 0], damping = 5e-4 }
"""
    right = stiction.parse(text)
    truth = stiction.parse(text.replace("[0, 0, -0.05]", "[0.004, 0, -0.05]"))
    experiment = {
        "parameter": [{"name": "link/damping", "start": 1e-3}],
        "noise": {"position": 0.001, "rotation_deg": 0.2865},
    }

    def swings(scene):
        found = []
        for _ in range(12):
            x0 = scene.x0
            x0[0], x0[1] = random.uniform(-0.8, 0.8), random.uniform(-2, 2)
            q = scene.rollout(x0, steps=80)[:, :1]
            q[1:] += 0.005 * random.standard_normal((80, 1))
            found.append((0.01 * np.arange(81), np.hstack([q, scene.rollout(x0, steps=80)[:, 1:2]])))
        return found

    wrong = stiction.identify(experiment, swings(truth), scene=right).score_tests
    named = {test["name"]: test for test in wrong}
    place = named["link/center_of_mass"]
    assert place["is_claim"] and place["adjusted_p_value"] < 1e-6 and place["recordings"] == 12
    along_x = place["members"].index("link/center_of_mass/x")
    assert place["held"][along_x] == 0 and abs(place["proposed"][along_x] - 0.004) < 1e-3
    assert wrong[0]["gain"] > 0.9
    same = stiction.identify(experiment, swings(right), scene=right).score_tests
    assert same and not any(test["is_claim"] for test in same)


def test_columns_by_name_with_gaps(cube, random):
    motion = recordings(cube, random, 0.2, 0.0)
    columns = [{"t": t, **{name: q[:, k].copy() for k, name in enumerate(cube.state_names[:7])}} for t, q in motion]
    columns[0]["cube/px"][7] = np.nan
    found = stiction.identify({**EXPERIMENT, "initial_state": "fitted"}, columns, scene=cube)
    assert abs(found.values["floor-cube/mu"] - 0.2) < 1e-3


def test_one_recording_needs_no_list(cube, random):
    experiment = {**EXPERIMENT, "initial_state": "fitted"}
    t, X = recordings(cube, random, 0.2, 0.0)[1]
    columns = {"t": t, **dict(zip(cube.state_names[:7], X.T))}
    expected = stiction.identify(experiment, [(t, X)], scene=cube)
    assert abs(expected.values["floor-cube/mu"] - 0.2) < 1e-3
    for given in ((t, X), [t.tolist(), X.tolist()], columns):
        assert stiction.identify(experiment, given, scene=cube).values == expected.values


def test_names_with_commas_and_quotes(cube, random):
    name = 'cube, "red"'
    text = CUBE.replace('"cube"', f"'{name}'").replace('"floor-cube"', f"'floor-{name}'")
    other = stiction.parse(text, "other.toml", parameters=[f"floor-{name}/mu", f"{name}/mass"])
    experiment = {
        "parameter": [{**EXPERIMENT["parameter"][0], "name": f"floor-{name}/mu"}],
        "noise": EXPERIMENT["noise"],
        "initial_state": "fitted",
    }
    motion = recordings(other, random, 0.2, 0.0)
    found = stiction.identify(experiment, motion, scene=other)
    assert abs(found.values[f"floor-{name}/mu"] - 0.2) < 1e-3
    columns = [{"t": t, **dict(zip(other.state_names[:7], q.T))} for t, q in motion]
    assert stiction.identify(experiment, columns, scene=other).values == found.values


@pytest.mark.parametrize(
    "experiment, given, message",
    [
        ({"parameter": [{"name": "floor-cube/nu", "start": 1}]}, [], 'no parameter "floor-cube/nu"'),
        ({**EXPERIMENT, "scene": "scene.toml"}, [], "scene: is given twice"),
        ({**EXPERIMENT, "windows": 3}, [], "windows"),
        (EXPERIMENT, [(np.arange(3), np.zeros((3, 4)))], r"X: must have shape \(N, 13\)"),
        (EXPERIMENT, [(np.arange(4), np.zeros((3, 13)))], "columns must be of one length"),
        (EXPERIMENT, [np.zeros((3, 13))], r"recording 0: must be a pair \(t, X\) or a mapping .*, found ndarray"),
        (EXPERIMENT, [(np.arange(3), np.zeros((3, 13)) + 1j)], "recording 0: X: must be real numbers"),
        (EXPERIMENT, [{}], "columns must be of one length, found none"),
        (EXPERIMENT, None, "data: is missing"),
        ("nowhere.toml", None, "nowhere.toml: No such file"),
        ({**EXPERIMENT, "starts": object()}, None, "cannot stand in an experiment"),
    ],
)
def test_errors_say_what_is_wrong(cube, experiment, given, message):
    with pytest.raises(stiction.Error, match=message):
        stiction.identify(experiment, given, scene=cube)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, stiction

scene = stiction.parse(sys.argv[1])
x = scene.x0
x[7] = 1
X = scene.rollout(x, steps=20_000)
# One iteration takes many seconds: recordings are long, and one window each.
recordings = [(0.01 * np.arange(len(X)), X)] * 4
experiment = {"parameter": [{"name": "floor-cube/mu", "start": 0.5, "lower": 0.01, "upper": 1.5}]}
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    global sent
    time.sleep(1.5)
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
try:
    stiction.identify(experiment, recordings, scene=scene, threads=1)
except KeyboardInterrupt:
    print(time.monotonic() - sent)
    assert scene.step(x).shape == x.shape
"""


def test_ctrl_c_ends_an_identification_within_an_iteration():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, CUBE], timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.0
