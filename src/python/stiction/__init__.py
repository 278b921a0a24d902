"""Differentiable simulation of rigid bodies with frictional contact, on NumPy arrays.

>>> import stiction
>>> scene = stiction.load("scene.toml")
>>> x = scene.step(scene.x0)
>>> jacobian = scene.linearize(x)            # dx+ = A dx + B du + C dp
>>> scene.view(scene.rollout(x, steps=100))  # in a notebook

`stiction.crocoddyl`, `stiction.torch` and `stiction.jax` wrap a scene for these libraries.
"""

from ._casadi import export_casadi
from ._evaluate import evaluate
from ._identify import identify
from ._named import Keyframes, Parameters
from ._stiction import (
    Error,
    Identification,
    ImplausibleWarning,
    Jacobian,
    Scene,
    SoftScene,
    UnknownNameError,
    UnsolvedWarning,
    __version__,
    load,
    load_soft,
    parse,
    parse_soft,
)
from ._view import View, view

Scene.view = view
Scene.export_casadi = export_casadi
Scene.keyframes = property(Keyframes, doc="The states that the file gives names, by these: x, (nq + nv).")
Scene.parameters = property(Parameters, doc="All parameters by name; setting one changes the steps from here on.")

__all__ = [
    "Error",
    "Identification",
    "ImplausibleWarning",
    "Jacobian",
    "Keyframes",
    "Parameters",
    "Scene",
    "SoftScene",
    "UnknownNameError",
    "UnsolvedWarning",
    "View",
    "__version__",
    "evaluate",
    "identify",
    "load",
    "load_soft",
    "parse",
    "parse_soft",
]
