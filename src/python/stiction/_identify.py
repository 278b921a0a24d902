"""Identification from files, or from what is in memory."""

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from . import _stiction
from ._stiction import Identification, Scene


def identify(
    experiment: str | os.PathLike | Mapping,
    recordings: str | os.PathLike | Iterable | None = None,
    *,
    scene: Scene | None = None,
    threads: int | None = None,
) -> Identification:
    """Finds parameters of a scene from recorded motion; an `Identification`.

    experiment: the path of an experiment file (TOML), or a mapping with its fields, such as

        {"parameter": [{"name": "floor-box/mu", "start": 0.5, "lower": 0.01, "upper": 1.5}],
         "initial_state": "fitted", "noise": {"position": 0.001, "rotation_deg": 0.2}}

    recordings: in place of the files it names, a folder, file or pattern of CSV files; or a sequence of recordings, each
    a pair (t, X) of times (N), s, and states (N, nq + nv), or (N, nq) without velocities; or a mapping from names of
    columns to arrays. NaN is what was not measured.
    scene: a `Scene` in place of the file that the experiment names, with the parameters it has now.

    The same bits come out on any number of threads.
    """
    if isinstance(experiment, Mapping):
        fields = (f"{json.dumps(key)} = {_toml(value)}" for key, value in experiment.items())
        text, path = "\n".join(fields), "experiment"
    else:
        text, path = None, os.fspath(experiment)
    if recordings is None or isinstance(recordings, (str, os.PathLike)):
        data = None if recordings is None else os.fspath(recordings)
        return _stiction.identify(path, text, data, scene, threads)
    with tempfile.TemporaryDirectory(prefix="stiction-") as folder:
        for k, recording in enumerate(recordings):
            _write(Path(folder) / f"recording_{k:06}.csv", _columns(recording, scene))
        return _stiction.identify(path, text, folder, scene, threads)


def _columns(recording, scene):
    if isinstance(recording, Mapping):
        return recording
    if scene is None:
        raise _stiction.Error("recordings as pairs (t, X) need scene=..., whose numbers they are; or name the columns")
    t, X = recording
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] not in (scene.nq, scene.nq + scene.nv):
        raise _stiction.Error(
            f"X: must have shape (N, {scene.nq + scene.nv}), or (N, {scene.nq}) without velocities, found {X.shape}"
        )
    return {"t": t, **dict(zip(scene.state_names, X.T))}


def _write(path, columns):
    values = [np.asarray(column, dtype=float) for column in columns.values()]
    if any(column.shape != values[0].shape or column.ndim != 1 for column in values):
        shapes = ", ".join(f"{name} {column.shape}" for name, column in zip(columns, values))
        raise _stiction.Error(f"the columns of a recording must be of one length, found {shapes}")
    header = ",".join(columns)
    np.savetxt(path, np.column_stack(values), fmt="%.17g", delimiter=",", header=header, comments="")


def _toml(value):
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, os.PathLike):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    raise _stiction.Error(f"{value!r} ({type(value).__name__}) cannot stand in an experiment")
