"""Steps in JAX: derivatives against differences, under jit, grad, jvp and vmap; problems solved through contact."""

import subprocess
import sys
from collections import Counter
from functools import partial

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


def point(scene, random):
    """A state whose quaternions are no unit ones, inputs and parameters; and directions of the same shapes."""
    x = some_state(scene, random) * np.where(np.arange(22) < 7, 1.3, 1)
    arguments = x, random.standard_normal(scene.nu), scene.p0
    return arguments, tuple(random.standard_normal(len(each)) for each in arguments)


def test_a_change_forward_is_a_difference_and_the_transpose_of_a_gradient(joints, random):
    arguments, directions = point(joints, random)
    f = partial(sj.step, joints)
    x_next, change = jax.jit(partial(jax.jvp, f))(arguments, directions)
    np.testing.assert_array_equal(x_next, joints.step(*arguments))
    moved = [f(*(a + s * 1e-6 * d for a, d in zip(arguments, directions))) for s in (1, -1)]
    np.testing.assert_allclose(change, (moved[0] - moved[1]) / 2e-6, atol=1e-7)
    weights = random.standard_normal(22)
    for k in range(3):
        # In one argument at a time, and so in parts of the derivative.
        part = lambda a: f(*arguments[:k], a, *arguments[k + 1 :])  # noqa: E731
        _, forward = jax.jvp(part, arguments[k : k + 1], directions[k : k + 1])
        (back,) = jax.vjp(part, arguments[k])[1](weights)
        assert float(weights @ forward) == pytest.approx(float(back @ directions[k]), rel=1e-12, abs=1e-14)
    _, linear = jax.linearize(f, *arguments)
    np.testing.assert_allclose(linear(*directions), change, rtol=1e-12, atol=1e-14)
    (again,) = jax.linear_transpose(linear, *arguments)(weights)[:1]
    np.testing.assert_allclose(again, jax.vjp(f, *arguments)[1](weights)[0], rtol=1e-12, atol=1e-14)


def test_jacobians_forward_are_those_in_reverse(joints, random):
    arguments, _ = point(joints, random)
    f = partial(sj.step, joints)
    forward, reverse = (jax.jit(jac(f, (0, 1, 2))) for jac in (jax.jacfwd, jax.jacrev))
    for found, expected in zip(forward(*arguments), reverse(*arguments)):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    assert forward(*arguments)[0].shape == (22, 22)


class Counted:
    """A scene that counts the calls of its methods."""

    def __init__(self, scene):
        self.own, self.calls = scene, Counter()

    def __getattr__(self, name):
        found = getattr(self.own, name)
        if not callable(found):
            return found

        def counted(*arguments, **options):
            self.calls[name] += 1
            return found(*arguments, **options)

        return counted


def test_a_batch_is_one_call(cube, random):
    counted = Counted(cube)
    f = partial(sj.step, counted)
    x = np.stack([some_state(cube, random, 0.1) for _ in range(4)])
    change = jax.jit(jax.vmap(lambda x, d: jax.jvp(f, (x,), (d,))[1]))
    gradient = jax.jit(jax.vmap(jax.grad(lambda x: jnp.sum(f(x) ** 2))))
    jacobian = jax.jit(jax.vmap(jax.jacfwd(f)))
    for function, arguments, expected in (
        (change, (x, x), {"jvp": 1}),
        (gradient, (x,), {"step": 1, "vjp": 1}),
        (jacobian, (x,), {"step": 1, "linearize": 1}),
    ):
        counted.calls.clear()
        function(*arguments).block_until_ready()
        calls = {name: count for name, count in counted.calls.items() if name in ("step", "jvp", "vjp", "linearize")}
        assert {**calls, "step": 1} == {**expected, "step": 1}


def test_changes_forward_under_vmap_are_a_loop(cube, random):
    x = np.stack([some_state(cube, random, 0.1) for _ in range(3)])
    u, p = random.standard_normal((3, 6)), np.array([0.2, 1.5])
    dx, du, dp = random.standard_normal((4, 3, 13)), random.standard_normal((3, 6)), random.standard_normal(2)

    def change(x, u, dx, du):
        return jax.jvp(partial(sj.step, cube), (x, u, p), (dx, du, dp))[1]

    expected = [[change(x[k], u[k], dx[i, k], du[k]) for k in range(3)] for i in range(4)]
    inner = jax.vmap(change)
    outer = jax.vmap(inner, (None, None, 0, None))
    np.testing.assert_allclose(jax.jit(outer)(x, u, dx, du), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        jax.vmap(jax.vmap(change, (None, None, 0, None)), (0, 0, 1, 0), 1)(x, u, dx, du), expected, rtol=1e-10, atol=1e-12
    )


def test_rollouts_forward_and_in_reverse_agree(cube, random):
    x0, U = cube.x0, 2 * random.standard_normal((12, 6))
    x0[7] = 1.0
    f = partial(sj.rollout, cube)
    directions = random.standard_normal(13), random.standard_normal((12, 6)), random.standard_normal(2)
    X, change = jax.jit(partial(jax.jvp, f))((x0, U, cube.p0), directions)
    weights = random.standard_normal(X.shape)
    gradients = jax.jit(lambda *a: jax.vjp(f, *a)[1](weights))(x0, U, cube.p0)
    expected = sum(float(jnp.vdot(*pair)) for pair in zip(gradients, directions))
    assert float(jnp.vdot(weights, change)) == pytest.approx(expected, rel=1e-12)
    # Parameters alone, the kind forward mode is for.
    end = lambda p: f(x0, U, p)[-1]  # noqa: E731
    forward, reverse = (jax.jit(jac(end))(cube.p0) for jac in (jax.jacfwd, jax.jacrev))
    np.testing.assert_allclose(forward, reverse, rtol=1e-10, atol=1e-12)


def test_second_derivatives_are_refused_in_words(cube):
    loss = lambda x: jnp.sum(sj.step(cube, x) ** 2)  # noqa: E731
    for second in (jax.hessian, lambda f: jax.jacrev(jax.grad(f)), lambda f: jax.grad(lambda x: jax.jvp(f, (x,), (x,))[1])):
        with pytest.raises(stiction.Error, match="first derivatives of steps only; Scene.hessian has the second"):
            jax.jit(second(loss))(cube.x0)
    # What is linear in its direction may be differentiated in that.
    along = lambda d: jax.jvp(loss, (cube.x0,), (d,))[1]  # noqa: E731
    again = jax.jit(jax.grad(along))(np.ones(13))
    np.testing.assert_allclose(again, jax.jit(jax.grad(loss))(cube.x0), rtol=1e-12)


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
    # One number, many places.
    slope = jax.jit(jax.jacfwd(distance))
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
