"""Scenes of the tests, and packages that not every machine has."""

import importlib
import os

import numpy as np
import pytest

import stiction

# A cube of 1 kg and 0.2 m on the floor.
CUBE = """
simulation.time_step = 0.01
half_space = [{ name = "floor", normal = [0, 0, 1] }]
contact = [{ pair = "floor-cube", mu = 0.3 }]
[[body]]
name = "cube"
mass = 1
shape = { box = [0.1, 0.1, 0.1] }
position = [0, 0, 0.1]
"""

# A free body in flight, and one on a ball joint with a third on a motorised hinge: every kind of coordinates.
JOINTS = """
simulation.time_step = 0.01
[[body]]
name = "free"
mass = 2
inertia = [0.02, 0.03, 0.04]
position = [0, 0, 1]
angular_velocity = [1, 2, 3]
[[body]]
name = "ball"
mass = 1
inertia = [0.02, 0.03, 0.04]
center_of_mass = [0, 0, -0.3]
joint = { type = "ball" }
[[body]]
name = "hinge"
parent = "ball"
mass = 0.5
inertia = [0.01, 0.01, 0.01]
center_of_mass = [0.1, 0, -0.2]
position = [0, 0, -0.6]
joint = { type = "revolute", axis = [0, 1, 0] }
[[actuator]]
name = "motor"
joint = "hinge"
"""


def optional(name):
    """The module `name`; skips what needs it where it is missing, unless STICTION_REQUIRE_PYTHON names it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        required = os.environ.get("STICTION_REQUIRE_PYTHON", "").replace(",", " ").split()
        if name in required:
            raise
        pytest.skip(f"{name} is not installed: {error}", allow_module_level=True)


@pytest.fixture
def cube():
    return stiction.parse(CUBE, "cube.toml", parameters=["floor-cube/mu", "cube/mass"])


@pytest.fixture
def joints():
    return stiction.parse(JOINTS, "joints.toml", inputs=["all"], parameters=["hinge/mass"])


@pytest.fixture
def random():
    return np.random.default_rng(1)


def some_state(scene, random, scale=0.5):
    """A state near the start, with speeds."""
    return scene.integrate(scene.x0, scale * random.standard_normal(2 * scene.nv))
