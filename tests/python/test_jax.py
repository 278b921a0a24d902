"""Steps in JAX: gradients against differences, under jit, grad and vmap; problems solved through contact."""

import subprocess
import sys

import numpy as np
import pytest
from conftest import CUBE, optional, some_state

import stiction

jax = optional("jax")
import jax.numpy as jnp  # noqa: E402

import stiction.jax as sj  # noqa: E402

jax.config.update("jax_enable_x64", True)


def test_gradients_of_all_arguments_are_differences(joints, random):
    x = some_state(joints, random) * np.where(np.arange(22) < 7, 1.3, 1)
    arguments = x, random.standard_normal(joints.nu), joints.p0
    weights = random.standard_normal(22)
    f = jax.jit(lambda *a: weights @ sj.step(joints, *a))
    gradients = jax.jit(jax.grad(f, argnums=(0, 1, 2)))(*arguments)
    for k, gradient in enumerate(gradients):
        for i in range(len(arguments[k])):
            moved = [[a + s * 1e-6 * (j == k) * np.eye(len(a))[i * (j == k)] for j, a in enumerate(arguments)] for s in (1, -1)]
            slope = float(f(*moved[0]) - f(*moved[1])) / 2e-6
            assert float(gradient[i]) == pytest.approx(slope, abs=1e-6)


def test_vmap_is_a_loop(cube, random):
    x = np.stack([some_state(cube, random, 0.1) for _ in range(5)])
    u = random.standard_normal((5, 6))
    p = np.array([0.2, 1.5])
    mapped = jax.vmap(lambda x, u, p: sj.step(cube, x, u, p), (0, 0, None))(x, u, p)
    np.testing.assert_array_equal(mapped, cube.step(x, u, p))
    np.testing.assert_array_equal(sj.step(cube, x, u, p), mapped)

    def loss(x, u, p):
        return jnp.sum(sj.step(cube, x, u, p)[..., 7:] ** 2)

    singles = [jax.grad(loss, (0, 1, 2))(x[k], u[k], p) for k in range(5)]
    mapped = jax.jit(jax.vmap(jax.grad(loss, (0, 1, 2)), (0, 0, None)))(x, u, p)
    whole = jax.grad(loss, (0, 1, 2))(x, u, p)
    for k in range(3):
        each = np.stack([single[k] for single in singles])
        np.testing.assert_allclose(mapped[k], each, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(whole[k], each.sum(0) if k == 2 else each, rtol=1e-12, atol=1e-14)


def test_friction_from_one_recorded_slide(cube):
    """Gauss-Newton on the places of a slide, from a coefficient that is twice as large."""
    x0 = cube.x0
    x0[7] = 1
    U = np.zeros((40, 6))
    recorded = cube.rollout(x0, U, [0.25, 1])[:, 0]
    distance = jax.jit(lambda mu: sj.rollout(cube, x0, U, jnp.array([mu, 1.0]))[:, 0] - recorded)
    # One row of the Jacobian a place: reverse mode is all there is.
    slope = jax.jit(jax.jacrev(distance))
    mu = 0.5
    for _ in range(8):
        r, J = distance(mu), slope(mu)
        mu -= (J @ r) / (J @ J)
    assert mu == pytest.approx(0.25, abs=1e-6)


def test_kinds_of_numbers(cube):
    pushed = cube.select(inputs=["cube/fx"])
    x0 = np.array([0, 0, 1, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0])
    expected = pushed.step(x0, [3])
    np.testing.assert_array_equal(sj.step(pushed, x0, 3), expected)
    assert sj.step(pushed, x0).dtype == jnp.float64
    single = sj.step(pushed, x0.astype(np.float32), np.float32(3))
    assert single.dtype == jnp.float32
    np.testing.assert_array_equal(single, expected.astype(np.float32))
    gradient = jax.grad(lambda u: sj.step(pushed, x0.astype(np.float32), u)[7])(np.ones(1, np.float32))
    assert gradient.dtype == jnp.float32 and gradient.shape == (1,)
    assert float(gradient[0]) == pytest.approx(0.01)


def test_a_rollout_in_float32_is_rounded_at_the_end(cube):
    x0, U = cube.x0, np.zeros((60, 6))
    x0[7] = 1.1
    X = sj.rollout(cube, x0.astype(np.float32), U.astype(np.float32))
    double = sj.rollout(cube, x0.astype(np.float32).astype(float), U)
    assert X.dtype == jnp.float32 and double.dtype == jnp.float64 and X.shape == (61, 13)
    np.testing.assert_array_equal(X, np.asarray(double).astype(np.float32))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda s: sj.step(s, 1.0), r"x: must have shape \(..., 13\), found \(\)"),
        (lambda s: sj.step(s, np.zeros((2, 13)), np.zeros((3, 6))), r"leading axes do not match: x \(2, 13\), u \(3, 6\)"),
        (lambda s: sj.step(s, s.x0 + 1j), "x: must be real numbers, found an array of complex128"),
        (lambda s: sj.step(s, "abc"), "x: cannot be made an array"),
        (lambda s: sj.rollout(s, s.x0, np.zeros((4, 5))), r"U: must have shape \(N, 6\), found \(4, 5\)"),
        (lambda s: sj.rollout(s, np.zeros((2, 13)), np.zeros((4, 6))), r"x0: must have shape \(13,\), found \(2, 13\)"),
    ],
)
def test_errors_say_what_is_wrong(cube, call, message):
    with pytest.raises(stiction.Error, match=message):
        call(cube)


def test_errors_come_out(cube):
    with pytest.raises(stiction.Error, match=r"x: must have shape \(..., 13\), found \(12,\)"):
        sj.step(cube, np.zeros(12))
    with pytest.raises(Exception, match="cube/px: must be finite"):
        np.asarray(jax.jit(lambda x: sj.step(cube, x))(np.full(13, np.nan)))


def test_without_x64_an_error_says_what_to_call():
    code = f"""
import stiction, stiction.jax
scene = stiction.parse('''{CUBE}''')
try:
    stiction.jax.step(scene, scene.x0)
except stiction.Error as error:
    print(error)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'jax.config.update("jax_enable_x64", True)' in ended.stdout
