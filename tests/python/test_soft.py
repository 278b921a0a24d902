"""Soft bodies: motions and their derivatives against closed forms and differences; a small network that learns to toss."""

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
