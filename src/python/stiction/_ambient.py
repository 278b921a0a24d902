"""Changes of x and gradients in its numbers, quaternions included, against those in tangent vectors.

At a state x a tangent vector [dq; dv] moves a unit quaternion q by q o [0, d] / 2, d being three numbers of dq. A step
normalises the quaternions that it is given, so that a gradient in their numbers is orthogonal to them.
"""

import numpy as np

from ._stiction import Error


def _places(scene):
    """Indices in x and dx of the numbers that are moved by addition, and of quaternions and their rotations."""
    quaternions = np.array([range(q, q + 4) for q, _ in scene.quaternions], dtype=int).reshape(-1, 4)
    rotations = np.array([range(d, d + 3) for _, d in scene.quaternions], dtype=int).reshape(-1, 3)
    x = np.setdiff1d(np.arange(scene.nq + scene.nv), quaternions)
    dx = np.setdiff1d(np.arange(2 * scene.nv), rotations)
    return x, dx, quaternions, rotations


def _product(p, q):
    """The product of quaternions w, x, y, z."""
    v, w = p[..., 1:], q[..., 1:]
    real = p[..., :1] * q[..., :1] - np.sum(v * w, axis=-1, keepdims=True)
    return np.concatenate([real, p[..., :1] * w + q[..., :1] * v + np.cross(v, w)], axis=-1)


def _tangent(scene, x, numbers, weigh):
    """A tangent vector at x, (..., 2 nv), with the numbers of x in it; of a quaternion the three numbers of conj(q) o that,
    times a weight of q."""
    plain, moved, quaternions, rotations = _places(scene)
    tangent = np.empty((*numbers.shape[:-1], 2 * scene.nv))
    tangent[..., moved] = numbers[..., plain]
    for place, rotation in zip(quaternions, rotations):
        q = x[..., place]
        tangent[..., rotation] = weigh(q) * _product(q * [1, -1, -1, -1], numbers[..., place])[..., 1:]
    return tangent


def _numbers(scene, x, tangent, weigh):
    """The numbers of x, (..., nq + nv), with a tangent vector in them; of a rotation d the quaternion q o [0, d], times a
    weight of q."""
    plain, moved, quaternions, rotations = _places(scene)
    numbers = np.empty((*tangent.shape[:-1], scene.nq + scene.nv))
    numbers[..., plain] = tangent[..., moved]
    for place, rotation in zip(quaternions, rotations):
        q, d = x[..., place], tangent[..., rotation]
        pure = np.concatenate([np.zeros_like(d[..., :1]), d], axis=-1)
        numbers[..., place] = weigh(q) * _product(q, pure)
    return numbers


def _of_motion(_q):
    return 0.5


def _of_normalisation(q):
    return 2 / np.sum(q * q, axis=-1, keepdims=True)


def to_tangent(scene, x, gradient):
    """The gradient in a tangent vector at x, (..., 2 nv), of what has this gradient in the numbers of x."""
    return _tangent(scene, x, gradient, _of_motion)


def from_tangent(scene, x, gradient):
    """The gradient in the numbers of x, (..., nq + nv), of what normalises x and then has this one in a tangent vector."""
    return _numbers(scene, x, gradient, _of_normalisation)


def change_to_tangent(scene, x, change):
    """The tangent vector, (..., 2 nv), that a change of the numbers of x becomes when x is normalised."""
    return _tangent(scene, x, change, _of_normalisation)


def change_from_tangent(scene, x, tangent):
    """The change of the numbers of x, (..., nq + nv), by a tangent vector."""
    return _numbers(scene, x, tangent, _of_motion)


def vjp(scene, x, u, p, x_next, gradient, threads=None):
    """The gradients in the numbers of x, u and p of what has this one in the numbers of x_next."""
    weights = to_tangent(scene, x_next, gradient)
    dx, du, dp = scene.vjp(x, u, weights, p, threads=threads)
    return from_tangent(scene, x, dx), du, dp


def demand_shapes(scene, x, u, p):
    """An error if arrays have not the shapes of arguments of a step."""
    sizes = {"x": (x, scene.nq + scene.nv), "u": (u, scene.nu), "parameters": (p, scene.np)}
    for name, (array, size) in sizes.items():
        demand_shape(name, array, size)


def demand_shape(name, array, size, sequence=False):
    """An error unless the array has vectors of `size` numbers, or sequences of them."""
    if array.ndim < 1 + sequence or array.shape[-1] != size:
        expected = f"(..., N, {size})" if sequence else f"(..., {size})"
        raise Error(f"{name}: must have shape {expected}, found {tuple(array.shape)}")
