"""Recordings as arrays against the same ones in files: the same bits, and messages that name recording and frame."""

import csv
import warnings

import numpy as np
import pytest
from test_pickles import assert_same_findings, experiment, slides

import stiction

TEXT = """
simulation.time_step = 0.01
[[body]]
name = "link"
position = [0, 0, 2]
mass = 0.1
inertia = [2e-4, 2e-4, 1e-4]
center_of_mass = [0, 0, -0.05]
joint = { type = "revolute", axis = [0, 1, 0], damping = 5e-4 }
[[actuator]]
name = "motor"
joint = "link"
"""


def write(folder, recordings):
    """As CSV, such that reading gives the same numbers."""
    folder.mkdir()
    for k, columns in enumerate(recordings):
        with (folder / f"recording_{k:03}.csv").open("w", newline="") as file:
            csv.writer(file).writerow(columns)
            np.savetxt(file, np.column_stack(list(columns.values())), fmt="%.17g", delimiter=",")
    return folder


def both(tmp_path, experiment, recordings, scene):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = stiction.identify(experiment, recordings, scene=scene)
        return own, stiction.identify(experiment, write(tmp_path / "recordings", recordings), scene=scene)


def swings(scene, random, count=3):
    """Angles in degrees, motors that drive, a marker with gaps; rows that come twice and rows that are not used."""
    found = []
    for _ in range(count):
        u = random.standard_normal((60, 1)) * 1e-2
        X = scene.rollout([random.uniform(-0.8, 0.8), 1.0], u)
        angle = X[:, 0] + 1e-3 * random.standard_normal(61)
        tip = np.stack([-0.2 * np.sin(X[:, 0]), 0 * angle, 2 - 0.2 * np.cos(X[:, 0])], axis=1)
        tip += 1e-3 * random.standard_normal(tip.shape)
        tip[random.integers(61, size=9)] = np.nan
        angle[random.integers(1, 60, size=4)] = np.nan
        columns = {
            "time": 1.7e9 + 0.01 * np.arange(61),
            "angle, deg": np.degrees(angle),
            "torque": np.append(u[:, 0], 0.0),
            **{f"tip_{axis}": 1e3 * tip[:, k] for k, axis in enumerate("xyz")},
        }
        rows = np.sort(np.append(np.arange(61), [7, 30]))
        found.append({name: column[rows] for name, column in columns.items()})
    return found


SWINGS = {
    "parameter": [
        {"name": "link/damping", "start": 1e-3},
        {"name": "drive/gain", "start": 0.8},
    ],
    "noise": {"position": 0.001, "rotation_deg": 0.06},
    "initial_state": "fitted",
    "columns": {"t": "time", "link/q": {"column": "angle, deg", "unit": "deg"}, "link/v": False},
    "recordings": {"from": 0.05},
    "input": [{"name": "drive", "drives": ["motor/u"], "columns": ["torque"]}],
    "sensor": [
        {
            "name": "tip",
            "marker": "link",
            "position": [0, 0, -0.2],
            "columns": ["tip_x", "tip_y", "tip_z"],
            "unit": "mm",
            "noise": 0.001,
        }
    ],
    "profiles": False,
}


def test_slides_are_found_as_from_files(cube, tmp_path):
    recordings = [{"t": t, **dict(zip(cube.state_names, X.T))} for t, X in slides(cube)]
    own, other = both(tmp_path, experiment(0.6), recordings, cube)
    assert_same_findings(own, other)
    assert_same_findings(own, stiction.identify(experiment(0.6), slides(cube), scene=cube))


def test_units_gaps_sensors_and_inputs_are_those_of_files(random, tmp_path):
    scene = stiction.parse(TEXT)
    own, other = both(tmp_path, SWINGS, swings(scene, random), scene)
    assert own.converged and abs(own.values["drive/gain"] - 1) < 0.1
    # Warnings name what they are about.
    for name in ("values", "standard_errors", "intervals", "loss", "iterations", "score_tests"):
        assert repr(getattr(own, name)) == repr(getattr(other, name)), name
    assert own.correlations.tobytes() == other.correlations.tobytes()


def test_arrays_of_any_layout_and_kind(cube):
    t, X = slides(cube)[0]
    expected = stiction.identify(experiment(0.6), (t, X), scene=cube).values
    for own in ((t, np.asfortranarray(X)), (np.repeat(t, 2)[::2], np.repeat(X, 2, axis=1)[:, ::2])):
        assert stiction.identify(experiment(0.6), own, scene=cube).values == expected
    single = stiction.identify(experiment(0.6), (t, X.astype(np.float32)), scene=cube)
    assert single.values != expected and abs(single.values["floor-cube/mu"] - expected["floor-cube/mu"]) < 1e-3
    # Names are those of a file.
    columns = {" t ": t, **{f"{name} ": x for name, x in zip(cube.state_names, X.T)}}
    assert stiction.identify(experiment(0.6), columns, scene=cube).values == expected


def spoilt(cube, column, frame, value):
    recordings = [{"t": t, **dict(zip(cube.state_names, X.T.copy()))} for t, X in slides(cube)]
    recordings[1][column][frame] = value
    return recordings


@pytest.mark.parametrize(
    "column, frame, value, message",
    [
        ("cube/px", 7, np.inf, "^recording 1, frame 7: cube/px: must be finite, found inf"),
        ("t", 3, np.nan, "^recording 1, frame 3: t: must be finite, found NaN"),
        ("t", 5, 0.0, "^recording 1, frame 5: t: must"),
        ("cube/qw", 9, 7.0, "^recording 1, frame 9: cube"),
    ],
)
def test_messages_name_the_recording_and_the_frame(cube, column, frame, value, message):
    recordings = spoilt(cube, column, frame, value)
    with pytest.raises(stiction.Error, match=message):
        stiction.identify(experiment(0.6), recordings, scene=cube)
    # Frames count from the first that is given, also where the first are not used.
    if column == "cube/px":
        with pytest.raises(stiction.Error, match=message):
            stiction.identify({**experiment(0.6), "recordings": {"from": 0.05}}, recordings, scene=cube)


@pytest.mark.parametrize(
    "recordings, message",
    [
        ([], "data: there are no recordings"),
        ({"t": [0.0, 0.01]}, "^recording 0: px: the column is missing; the recording begins with t; "),
        ({"time": [0.0, 0.01]}, "^recording 0: t: the column is missing.*; the recording begins with time$"),
        ((np.zeros(0), np.zeros((0, 13))), "^recording 0: t: at least 2 frames are needed, found 0"),
        ((np.zeros(1), np.zeros((1, 13))), "^recording 0"),
        ({"t": 0.1}, "^recording 0: columns must be of one length, found t \\(\\)"),
    ],
)
def test_what_is_no_recording_is_an_error(cube, recordings, message):
    with pytest.raises(stiction.Error, match=message):
        stiction.identify(experiment(0.6), recordings, scene=cube)


def test_files_that_an_experiment_names_are_not_looked_for(cube):
    own = {**experiment(0.6), "data": ["nowhere.csv"]}
    expected = stiction.identify(experiment(0.6), slides(cube), scene=cube)
    assert_same_findings(stiction.identify(own, slides(cube), scene=cube), expected)
    with pytest.raises(stiction.Error, match="nowhere.csv"):
        stiction.identify(own, scene=cube)
    with pytest.raises(stiction.Error, match="data"):
        stiction.identify({**own, "data": 3}, slides(cube), scene=cube)
