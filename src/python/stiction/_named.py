"""What a scene has by name: its parameters and its keyframes.

A name that it does not have is an `UnknownNameError`, a `KeyError` whose message tells those it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from numpy import float64
from numpy.typing import NDArray

from . import _stiction


class Parameters(Mapping[str, float]):
    """The values of a scene's parameters, SI units; `scene.parameters["floor-box/mu"] = 0.4` sets one."""

    def __init__(self, scene: _stiction.Scene) -> None:
        self._scene = scene

    def __getitem__(self, name: str) -> float:
        return self._scene.get_parameter(_text(name))

    def __setitem__(self, name: str, value: float) -> None:
        self._scene.set_parameter(_text(name), float(value))

    def __contains__(self, name: object) -> bool:
        return name in self._scene.all_parameter_names

    def __iter__(self) -> Iterator[str]:
        return iter(self._scene.all_parameter_names)

    def __len__(self) -> int:
        return len(self._scene.all_parameter_names)

    def __repr__(self) -> str:
        return f"Parameters({dict(self)})"


class Keyframes(dict[str, NDArray[float64]]):
    """States x by the names that the file gives them."""

    def __init__(self, scene: _stiction.Scene) -> None:
        super().__init__(scene._keyframes)
        self._file = scene.name

    def __missing__(self, name: str) -> NDArray[float64]:
        raise _stiction._unknown_name(self._file, "keyframe", _text(name), list(self))


def _text(name: object) -> str:
    if not isinstance(name, str):
        raise _stiction.UnknownNameError(f"names are texts, found {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise _stiction.UnknownNameError(f"names are texts of Unicode, found {name!r}") from error
    return name
