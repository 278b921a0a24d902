"""Soft bodies: motions and their derivatives against closed forms and differences; a small network that learns to toss."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import stiction

TEXT = """
[simulation]
time_step = 0.004
integrator = "bdf2"
solver = "penalty_tanh"
[[half_space]]
name = "floor"
normal = [0, 0, 1]
[[soft]]
name = "block"
shape = { box = [0.05, 0.03, 0.02] }
resolution = 0.05
density = 300
youngs_modulus = 3e4
poisson_ratio = 0.3
viscosity = 4
position = [0, 0, 0.1]
angular_velocity = [0, 5, 0]
markers = { left = [-0.05, 0, 0] }
[[contact]]
mu = 0.4
stiffness = 400
"""
NAMES = ["block/velocity_x", "block/velocity_z", "block/viscosity", "floor-block/mu"]


@pytest.fixture
def block():
    return stiction.parse_soft(TEXT, parameters=NAMES)


def test_a_motion_falls_and_bounces(block):
    x, v = block.rollout(50)
    assert x.shape == v.shape == (51, block.mass.size, 3)
    assert block.nodes == [("block", 0, block.mass.size)] and block.markers[0][0] == "block/left"
    np.testing.assert_allclose(block.mass.sum(), 300 * 0.1 * 0.06 * 0.04, rtol=1e-12)
    np.testing.assert_allclose(block.area.sum(), 2 * (0.1 * 0.06 + 0.1 * 0.04 + 0.06 * 0.04), rtol=1e-12)
    centre = np.einsum("n,tni->ti", block.mass, x) / block.mass.sum()
    # In flight BDF2, whose first step is one of BDF1, falls as BDF1 does in that step and exactly after it.
    assert centre[0, 2] == pytest.approx(0.1)
    assert 0.01 < centre[:, 2].min() < 0.05 < centre[:20, 2].max()
    again, _ = block.rollout(50, block.p0)
    np.testing.assert_array_equal(x, again)


def test_derivatives_are_those_of_differences(block):
    steps, p = 60, np.array([0.7, -0.3, 4.0, 0.4])
    x, slopes = block.jacobian(steps, p)
    np.testing.assert_array_equal(x, block.rollout(steps, p)[0][-1])
    for j, size in enumerate([1e-6, 1e-6, 1e-5, 1e-6]):
        moved = [block.rollout(steps, p + sign * size * np.eye(4)[j])[0][-1] for sign in (1, -1)]
        expected = (moved[0] - moved[1]) / (2 * size)
        np.testing.assert_allclose(slopes[..., j], expected, atol=2e-5 * np.abs(expected).max() + 1e-10)
    weights = np.zeros((steps + 1, *x.shape))
    weights[-1] = np.random.default_rng(1).normal(size=x.shape)
    gradient, motion = block.vjp(weights, p)
    np.testing.assert_allclose(gradient, np.einsum("ni,nij->j", weights[-1], slopes), rtol=1e-8)
    np.testing.assert_array_equal(motion[-1], x)


def test_a_throw_is_learned_through_the_simulation(block):
    """A linear policy from targets to throws, by the gradient of its miss through the motion."""
    steps, random = 30, np.random.default_rng(2)
    shares = block.mass / block.mass.sum()
    w, b = np.zeros((2, 2)), np.array([0.5, 0.5])
    targets = np.column_stack([random.uniform(0.1, 0.3, 6), random.uniform(0.08, 0.12, 6)])

    def miss(target, weigh=True):
        throw = w @ target + b
        p = np.array([*throw, 4.0, 0.4])
        x = block.rollout(steps, p)[0][-1]
        off = (shares @ x)[[0, 2]] - target
        if not weigh:
            return off
        bar = np.zeros((steps + 1, *x.shape))
        bar[-1][:, [0, 2]] = shares[:, None] * off
        return off, block.vjp(bar, p)[0][:2]

    for _ in range(12):
        rows, offs = [], []
        for target in targets:
            throw = np.array([*(w @ target + b), 4.0, 0.4])
            x, slopes = block.jacobian(steps, throw)
            off = (shares @ x)[[0, 2]] - target
            slope = np.einsum("n,nij->ij", shares, slopes)[[0, 2], :2]
            _, gradient = miss(target)
            np.testing.assert_allclose(gradient, slope.T @ off, rtol=1e-6, atol=1e-12)
            rows.append(np.hstack([np.kron(slope, target[None]), slope]))
            offs.append(off)
        step = np.linalg.lstsq(np.vstack(rows), np.concatenate(offs), rcond=None)[0]
        w, b = w - step[:4].reshape(2, 2), b - step[4:]
    unseen = np.column_stack([random.uniform(0.1, 0.3, 4), random.uniform(0.08, 0.12, 4)])
    misses = [np.linalg.norm(miss(target, weigh=False)) for target in unseen]
    assert np.mean(misses) < 0.01, misses


def test_what_is_wrong_is_said(block, tmp_path):
    with pytest.raises(stiction.Error, match="is no parameter; there are block/youngs_modulus"):
        stiction.parse_soft(TEXT, parameters=["block/speed"])
    with pytest.raises(stiction.Error, match="has no .*soft.* bodies"):
        stiction.parse_soft("simulation.time_step = 0.01", "rigid.toml")
    with pytest.raises(stiction.Error, match="p: must have shape"):
        block.rollout(5, [1.0])
    with pytest.raises(stiction.Error, match="steps: must be a whole number of at least 1"):
        block.rollout(0)
    with pytest.raises(stiction.Error, match="x_bar: must have shape"):
        block.vjp(np.zeros((3, 5, 3)))
    with pytest.raises(stiction.Error, match="viscosity = -1 is not that of a soft body"):
        block.rollout(5, [0.0, 0.0, -1.0, 0.4])
    (tmp_path / "soft.toml").write_text(TEXT)
    assert stiction.load_soft(tmp_path / "soft.toml").dt == 0.004


# Coarser than for users.
PUSHED = Path(__file__).parents[2] / "examples" / "soft_push" / "scene.toml"
PUSHED = PUSHED.read_text().replace("[simulation]", "[simulation]\ntolerance = 1e-12").replace("resolution = 0.02", "resolution = 0.1")


@pytest.fixture
def pushed():
    return stiction.parse_soft(PUSHED, parameters=["block/density", "arm/v"], inputs=["motor/u", "box/fx"])


def test_rigid_bodies_move_along_as_inputs_say(pushed):
    steps = 60
    assert pushed.input_names == ["motor/u", "box/fx"]
    assert pushed.state_names[7:9] == ["arm/q", "box/vx"] and len(pushed.state_names) == 8 + 7
    states = pushed.rigid_rollout(steps)
    assert states.shape == (steps + 1, 15) and states[0, 7] == 0.1
    # What acts in the scene acts in each step; and without the motor only gravity does.
    same = pushed.rigid_rollout(steps, U=np.tile([-0.06, 0.0], (steps, 1)))
    np.testing.assert_array_equal(same, states)
    idle = pushed.rigid_rollout(steps, U=np.zeros((steps, 2)))
    assert states[15, 14] < idle[15, 14] - 0.5
    x, _ = pushed.rollout(steps, U=np.zeros((steps, 2)))
    assert np.abs(x - pushed.rollout(steps)[0]).max() > 1e-3
    again = pickle.loads(pickle.dumps(pushed))
    assert again.input_names == pushed.input_names
    np.testing.assert_array_equal(again.rigid_rollout(steps, U=np.zeros((steps, 2))), idle)


def test_gradients_in_inputs_are_those_of_differences(pushed):
    steps, random = 50, np.random.default_rng(3)
    p = pushed.p0 + [0.0, -0.2]
    inputs = np.array([-0.06, 0.0]) + random.normal(scale=[0.01, 0.05], size=(steps, 2))
    nodes = pushed.mass.size
    x_bar = np.zeros((steps + 1, nodes, 3))
    x_bar[-1] = random.normal(size=(nodes, 3))
    # Of the box where it is in the middle, and of the arm at the end.
    rigid_bar = np.zeros((steps + 1, 14))
    rigid_bar[steps // 2, :3] = random.normal(size=3)
    rigid_bar[-1, [6, 13]] = [1.0, 0.1]
    p_bar, u_bar, x = pushed.vjp(x_bar, p, inputs, rigid_bar)
    assert p_bar.shape == (2,) and u_bar.shape == (steps, 2)
    np.testing.assert_array_equal(x, pushed.rollout(steps, p, inputs)[0])
    alone, motion = pushed.vjp(np.zeros((2, nodes, 3)))
    assert alone.shape == (2,) and motion.shape == (2, nodes, 3) and not alone.any()

    def cost(p, inputs):
        x, states = pushed.rollout(steps, p, inputs)[0], pushed.rigid_rollout(steps, p, inputs)
        middle = rigid_bar[steps // 2, :3] @ states[steps // 2, :3]
        return np.sum(x_bar * x) + middle + states[-1, 7] + 0.1 * states[-1, 14]

    for k in (0, 20, 48):
        for j, size in enumerate([1e-6, 1e-5]):
            moved = np.zeros_like(inputs)
            moved[k, j] = size
            expected = (cost(p, inputs + moved) - cost(p, inputs - moved)) / (2 * size)
            assert u_bar[k, j] == pytest.approx(expected, rel=1e-4, abs=1e-7), (k, j)
    for j, size in enumerate([1e-4, 1e-6]):
        moved = size * np.eye(2)[j]
        expected = (cost(p + moved, inputs) - cost(p - moved, inputs)) / (2 * size)
        assert p_bar[j] == pytest.approx(expected, rel=1e-4, abs=1e-9)


def test_what_is_wrong_with_inputs_is_said(pushed, block):
    with pytest.raises(stiction.UnknownNameError, match="arm/u.*is no input"):
        stiction.parse_soft(PUSHED, inputs=["arm/u"])
    with pytest.raises(stiction.UnknownNameError, match="is no input"):
        stiction.parse_soft(TEXT, inputs=["motor/u"])
    with pytest.raises(stiction.Error, match=r"U: must have shape \(.*4, 2\), found \(5, 2\)"):
        pushed.rollout(4, U=np.zeros((5, 2)))
    with pytest.raises(stiction.Error, match="U: box/fx is not finite in step 3"):
        pushed.rollout(4, U=[[0, 0], [0, 0], [0, 0], [0, np.nan]])
    with pytest.raises(stiction.Error, match="rigid_bar: must have shape"):
        pushed.vjp(np.zeros((3, pushed.mass.size, 3)), rigid_bar=np.zeros((3, 15)))
    assert block.state_names == [] and block.rigid_rollout(2).shape == (3, 0)
