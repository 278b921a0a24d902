"""Identification from files, or from what is in memory."""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _stiction
from ._stiction import Identification, Scene


def identify(
    experiment: str | os.PathLike | Mapping,
    recordings: str | os.PathLike | Iterable | None = None,
    *,
    scene: Scene | None = None,
    threads: int | None = None,
    comm: Any = None,
) -> Identification:
    """Finds parameters of a scene from recorded motion; an `Identification`.

    experiment: the path of an experiment file (TOML), or a mapping with its fields, such as

        {"parameter": [{"name": "floor-box/mu", "start": 0.5, "lower": 0.01, "upper": 1.5}],
         "initial_state": "fitted", "noise": {"position": 0.001, "rotation_deg": 0.2}}

    recordings: in place of the files it names, a folder, file or pattern of CSV files; or one recording or a sequence, each
    a pair (t, X) of times (N), s, and states (N, nq + nv), or (N, nq) without velocities; or a mapping from names of
    columns to arrays. NaN is what was not measured. Arrays are handed over as they are.
    scene: a `Scene` in place of the file that the experiment names, with the parameters it has now.

    comm: processes that work together, such as `mpi4py.MPI.COMM_WORLD`, or anything with `Get_rank`, `Get_size` and `allgather`
    (which is called with bytes). All of them call this with the same arguments; each works on its share of the recordings,
    and all get the result. The first one warns.

    The same bits come out on any number of threads and processes.
    """
    try:
        arguments = _arguments(experiment, recordings, scene, threads, comm)
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


def _arguments(experiment, recordings, scene, threads, comm):
    """What the compiled part takes."""
    if isinstance(experiment, Mapping):
        fields = (f"{json.dumps(key)} = {_toml(value)}" for key, value in experiment.items())
        text, path = "\n".join(fields), "experiment"
    else:
        text, path = None, os.fspath(experiment)
    if recordings is None or isinstance(recordings, (str, os.PathLike)):
        data = None if recordings is None else os.fspath(recordings)
        return path, text, data, scene, (threads, comm)
    if isinstance(recordings, Mapping) or _is_pair(recordings):
        recordings = [recordings]
    arrays = [_of_one_length(k, _columns(k, recording, scene)) for k, recording in enumerate(recordings)]
    return path, text, None, scene, (threads, comm), arrays


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
