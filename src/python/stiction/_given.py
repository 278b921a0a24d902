"""An experiment and recordings as the compiled part takes them: files, or what is in memory."""

import json
import os
from collections.abc import Iterable, Mapping

import numpy as np

from . import _stiction


def experiment_of(experiment):
    """The path of an experiment, and its text if that is no file."""
    if isinstance(experiment, Mapping):
        fields = (f"{json.dumps(key)} = {_toml(value)}" for key, value in experiment.items())
        return "experiment", "\n".join(fields)
    return os.fspath(experiment), None


def recordings_of(recordings, scene):
    """Names of files in place of those of the experiment, and arrays by columns, of recordings that are in memory."""
    if recordings is None:
        return None
    if _is_path(recordings):
        return [os.fspath(recordings)], None
    if isinstance(recordings, Mapping) or _is_pair(recordings):
        recordings = [recordings]
    if not isinstance(recordings, Iterable):
        raise _stiction.Error(f"recordings: must be files or arrays, found {type(recordings).__name__}")
    recordings = list(recordings)
    if recordings and all(map(_is_path, recordings)):
        return list(map(os.fspath, recordings)), None
    return [], [_of_one_length(k, _columns(k, recording, scene)) for k, recording in enumerate(recordings)]


def _is_path(given):
    return isinstance(given, (str, os.PathLike))


def _is_pair(recordings):
    """Whether it is one pair (t, X), not a sequence of recordings."""
    if not isinstance(recordings, (tuple, list)) or len(recordings) != 2 or isinstance(recordings[0], Mapping):
        return False
    try:
        return np.asarray(recordings[0], dtype=float).ndim == 1
    except (TypeError, ValueError):
        return False


def _columns(k, recording, scene):
    if isinstance(recording, Mapping):
        return {str(name): _numbers(f"recording {k}: {name}", column) for name, column in recording.items()}
    if not isinstance(recording, (tuple, list)) or len(recording) != 2:
        raise _stiction.Error(
            f"recording {k}: must be a pair (t, X) or a mapping from names of columns, found {type(recording).__name__}"
        )
    if scene is None:
        raise _stiction.Error("recordings as pairs (t, X) need scene=..., whose numbers they are; or name the columns")
    t, X = (_numbers(f"recording {k}: {name}", each) for name, each in zip("tX", recording))
    if X.ndim != 2 or X.shape[1] not in (scene.nq, scene.nq + scene.nv):
        raise _stiction.Error(
            f"recording {k}: X: must have shape (N, {scene.nq + scene.nv}), or (N, {scene.nq}) without velocities, "
            f"found {X.shape}"
        )
    return {"t": t, **dict(zip(scene.state_names, X.T))}


def _numbers(name, given):
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise _stiction.Error(f"{name}: cannot be made an array of numbers: {error}") from error
    if array.dtype.kind not in "biuf":
        raise _stiction.Error(f"{name}: must be real numbers, found an array of {array.dtype}")
    return array.astype(float)


def _of_one_length(k, columns):
    """Pairs of names and arrays of one index."""
    values = list(columns.values())
    if not values or any(column.shape != values[0].shape or column.ndim != 1 for column in values):
        shapes = ", ".join(f"{name} {column.shape}" for name, column in columns.items()) or "none"
        raise _stiction.Error(f"recording {k}: columns must be of one length, found {shapes}")
    return list(columns.items())


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
