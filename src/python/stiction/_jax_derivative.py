"""The derivative of a step at a point, for JAX: two linear primitives, forward and adjoint, each the transpose of the other.

A point is (x, u, p, x_next), float64, with the same leading axes; what the derivative is applied to may have more in front,
of which vmap makes one call.
"""

import math

import numpy as np

from . import _ambient
from ._optional import require
from ._stiction import Error

jax = require("jax")
from jax.extend.core import Primitive  # noqa: E402
from jax.interpreters import ad, batching, mlir  # noqa: E402

jnp = jax.numpy

# Arguments that the derivative is not linear in.
_POINT = 4
# From so many vectors at one point on, products with A, B and C are quicker than sweeps of their own.
_FEW = 2


def push(scene, point, changes):
    """The change of x_next by changes of x, u and p."""
    (found,) = _push.bind(*point, *changes, scene=scene)
    return found


def _push_numbers(scene, x, u, p, x_next, dx, du, dp):
    dx = _ambient.change_to_tangent(scene, x, dx)
    if _count(dx, x) <= _FEW:
        change = scene.jvp(x, u, dx, du, dp, p)
    else:
        at = scene.linearize(x, u, p)
        change = _times(at.A, dx) + _times(at.B, du) + _times(at.C, dp)
    return (_ambient.change_from_tangent(scene, x_next, change),)


def _pull_numbers(scene, x, u, p, x_next, gradient):
    if _count(gradient, x) <= _FEW:
        return _ambient.vjp(scene, x, u, p, x_next, gradient)
    at = scene.linearize(x, u, p)
    weights = _ambient.to_tangent(scene, x_next, gradient)
    dx, du, dp = (_times(np.swapaxes(matrix, -1, -2), weights) for matrix in (at.A, at.B, at.C))
    return _ambient.from_tangent(scene, x, dx), du, dp


def _count(vectors, points):
    """How many vectors there are for each point."""
    return math.prod(vectors.shape[: vectors.ndim - points.ndim])


def _times(matrices, vectors):
    return (matrices @ vectors[..., None])[..., 0]


def _primitive(name, function, sizes):
    """A linear primitive that calls a function of NumPy arrays, whose results have these numbers each."""
    primitive = Primitive(name)
    primitive.multiple_results = True

    def shapes(arguments, scene):
        leading = arguments[_POINT].shape[:-1]
        return [(*leading, size) for size in sizes(scene)]

    def call(*arguments, scene):
        like = [jax.ShapeDtypeStruct(shape, jnp.float64) for shape in shapes(arguments, scene)]
        return jax.pure_callback(lambda *given: function(scene, *map(np.asarray, given)), like, *arguments)

    def batched(arguments, axes, *, scene):
        count = next(a.shape[axis] for a, axis in zip(arguments, axes) if axis is not None)
        alone = [a.ndim - (axis is not None) for a, axis in zip(arguments, axes)]
        several = [
            jnp.broadcast_to(a, (count, *a.shape)) if axis is None else jnp.moveaxis(a, axis, 0)
            for a, axis in zip(arguments, axes)
        ]
        if all(axis is None for axis in axes[:_POINT]):
            # Other vectors at the same points.
            place, several[:_POINT] = 0, arguments[:_POINT]
        else:
            place = alone[_POINT] - alone[0]
            several[_POINT:] = [jnp.moveaxis(a, 0, place) for a in several[_POINT:]]
        found = primitive.bind(*several, scene=scene)
        return found, [place] * len(found)

    def changed(arguments, changes, *, scene):
        if any(type(change) is not ad.Zero for change in changes[:_POINT]):
            raise Error("stiction.jax has first derivatives of steps only; Scene.hessian has the second ones of one step")
        changes = map(ad.instantiate_zeros, changes[_POINT:])
        bind = lambda given: primitive.bind(*arguments[:_POINT], *given, scene=scene)  # noqa: E731
        return bind(arguments[_POINT:]), bind(changes)

    primitive.def_impl(call)
    primitive.def_abstract_eval(
        lambda *arguments, scene: [jax.core.ShapedArray(s, jnp.float64) for s in shapes(arguments, scene)]
    )
    batching.primitive_batchers[primitive] = batched
    ad.primitive_jvps[primitive] = changed
    mlir.register_lowering(primitive, mlir.lower_fun(call, multiple_results=True))
    return primitive


def _is_transposed_by(primitive, other):
    def transposed(weights, *arguments, scene):
        found = other.bind(*arguments[:_POINT], *map(ad.instantiate_zeros, weights), scene=scene)
        asked = map(ad.is_undefined_primal, arguments[_POINT:])
        return [None] * _POINT + [each if is_asked else None for each, is_asked in zip(found, asked)]

    ad.primitive_transposes[primitive] = transposed


_push = _primitive("stiction_push", _push_numbers, lambda scene: (scene.nq + scene.nv,))
_pull = _primitive("stiction_pull", _pull_numbers, lambda scene: (scene.nq + scene.nv, scene.nu, scene.np))
_is_transposed_by(_push, _pull)
_is_transposed_by(_pull, _push)
