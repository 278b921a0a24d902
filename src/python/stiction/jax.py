"""Steps of a scene in JAX: `stiction.jax.step(scene, x, u, parameters)`, under jit, vmap and all first derivatives.

JAX has to compute in float64: `jax.config.update("jax_enable_x64", True)`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from . import _ambient, _jax_derivative
from ._optional import require
from ._stiction import Error, Scene

if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
    from jax import Array
    from jax.typing import ArrayLike
else:
    jax = require("jax")
    jnp = jax.numpy


def step(scene: Scene, x: ArrayLike, u: ArrayLike | None = None, parameters: ArrayLike | None = None) -> Array:
    """The state after a step, (..., nq + nv).

    x (..., nq + nv), u (..., nu), parameters (..., np, those selected): arrays whose leading axes are broadcast together.
    What is left out is as the scene has it (under jit, when it is traced). All is computed in float64; the result has
    the dtype of x (float64, if x is of integers), so that one of float32 is rounded at the end. First derivatives,
    forward (jvp, jacfwd, linearize) and in reverse (grad, vjp, jacrev), are in the numbers of x, whose quaternions are
    normalised first: gradients in a quaternion are orthogonal to it. `Scene.hessian` has second derivatives.
    """
    x = _array("x", x)
    u = _array("u", scene.u0 if u is None else u).astype(jnp.float64)
    p = _array("parameters", scene.p0 if parameters is None else parameters).astype(jnp.float64)
    if scene.nu == 1 and u.ndim == 0:
        u = u.reshape(1)
    _ambient.demand_shapes(scene, x, u, p)
    try:
        leading = jnp.broadcast_shapes(x.shape[:-1], u.shape[:-1], p.shape[:-1])
    except ValueError as error:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in (("x", x), ("u", u), ("parameters", p)))
        raise Error(f"the leading axes do not match: {shapes}") from error
    full = (jnp.broadcast_to(each.astype(jnp.float64), (*leading, each.shape[-1])) for each in (x, u, p))
    return _step(scene, *full).astype(_kind(x))


def rollout(scene: Scene, x0: ArrayLike, U: ArrayLike, parameters: ArrayLike | None = None) -> Array:
    """The states along a motion: x0 (nq + nv), U (N, nu) to (N + 1, nq + nv), rounded to the dtype of x0 at the end; vmap
    makes batches. See `step`."""
    x0, U = _array("x0", x0), _array("U", U)
    for name, array, shape in (("x0", x0, (scene.nq + scene.nv,)), ("U", U, (*U.shape[:1], scene.nu))):
        if array.shape != shape:
            expected = f"({shape[0]},)" if name == "x0" else f"(N, {scene.nu})"
            raise Error(f"{name}: must have shape {expected}, found {array.shape}; vmap makes batches")
    start = x0.astype(jnp.float64)

    def advance(x, u):
        x = step(scene, x, u, parameters)
        return x, x

    _, states = jax.lax.scan(advance, start, U.astype(jnp.float64))
    return jnp.concatenate([start[None], states]).astype(_kind(x0))


def _array(name, given):
    """An array of real numbers."""
    if not jax.config.jax_enable_x64:
        message = 'JAX computes in float32 here; call jax.config.update("jax_enable_x64", True) before anything else'
        raise Error(message)
    try:
        array = jnp.asarray(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise Error(f"{name}: cannot be made an array of numbers: {error}") from error
    if jnp.iscomplexobj(array):
        raise Error(f"{name}: must be real numbers, found an array of {array.dtype}")
    return array


def _kind(x):
    return x.dtype if jnp.issubdtype(x.dtype, jnp.floating) else jnp.float64


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _step(scene, x, u, p):
    return jax.pure_callback(
        lambda *given: scene.step(*map(np.asarray, given)),
        jax.ShapeDtypeStruct(x.shape, x.dtype),
        *(x, u, p),
        vmap_method="broadcast_all",
    )


@_step.defjvp
def _step_and_change(scene, arguments, changes):
    x_next = _step(scene, *arguments)
    return x_next, _jax_derivative.push(scene, (*arguments, x_next), changes)
