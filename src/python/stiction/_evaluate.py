"""Parameters judged by recordings."""

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _given, _stiction
from ._stiction import Identification, Scene


def evaluate(
    experiment: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    recordings: str | os.PathLike[str] | Iterable[Any] | None = None,
    *,
    scene: Scene | None = None,
    parameters: str | os.PathLike[str] | Mapping[str, float] | Identification | Scene | None = None,
    compare: str | os.PathLike[str] | Mapping[str, float] | Identification | Scene | None = None,
    initial: str = "recorded",
    threads: int | None = None,
) -> dict[str, Any]:
    """Simulates whole recordings from their first frame and measures the distance, as `stiction evaluate` does.

    experiment, recordings, scene: as `stiction.identify` takes them. Without an experiment, recordings whose columns have our
    names are of `scene`; an error of positions is then in % of 1 m.
    parameters: in place of those of the scene, the file of a result or of a scene with the same parameters; a mapping from
    names to values, an `Identification`, or a `Scene`. compare: others, to compare with recording by recording.
    initial: "recorded", from the first recorded frame, or "flight", from the state that fits the frames before the first contact.

    A dict: `experiment`, `initial` and `count` (of recordings); means over the recordings, `position_error_percent`,
    `rotation_error_deg` and, where there are hinges, `joint_error_deg`; `summary` of each kind of error with `mean`, `median`,
    `most_of_nine_tenths`, and `least` and `largest` with `error` and `name`; `comparison`, `solver`, and `trajectories`, a list
    in the order of the recordings. None is what is not recorded, or not finite. What sensors read has no part in it.

    The same bits come out on any number of threads, and of the program.
    """
    sources = [_source(name, given) for name, given in (("parameters", parameters), ("compare", compare))]
    named = None if experiment is None else _given.experiment_of(experiment)
    found = _stiction._evaluate((named, scene), _given.recordings_of(recordings, scene), sources, initial, threads)
    result: dict[str, Any] = json.loads(found)
    return result


def _source(name, given):
    """What the compiled part takes for parameters."""
    if given is None or isinstance(given, (str, os.PathLike, Scene)):
        return given
    if isinstance(given, Identification):
        given = given.values
    if not isinstance(given, Mapping):
        raise _stiction.Error(
            f"{name}: must be a file, a mapping from names to values, an Identification or a Scene, found {type(given).__name__}"
        )
    try:
        return [(str(key), float(value)) for key, value in given.items()]
    except (TypeError, ValueError) as error:
        raise _stiction.Error(f"{name}: values must be numbers: {error}") from error
