"""The parameters of a scene by name."""

from collections.abc import Mapping


class Parameters(Mapping):
    """The values of a scene's parameters, SI units; `scene.parameters["floor-box/mu"] = 0.4` sets one."""

    def __init__(self, scene):
        self._scene = scene

    def __getitem__(self, name):
        if name not in self._scene.all_parameter_names:
            raise KeyError(name)
        return self._scene.get_parameter(name)

    def __setitem__(self, name, value):
        self._scene.set_parameter(name, float(value))

    def __iter__(self):
        return iter(self._scene.all_parameter_names)

    def __len__(self):
        return len(self._scene.all_parameter_names)

    def __repr__(self):
        return f"Parameters({dict(self)})"
