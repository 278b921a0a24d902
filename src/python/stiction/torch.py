"""Steps of a scene in PyTorch: `stiction.torch.step(scene, x, u, parameters)`, differentiated in reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ambient
from ._optional import require
from ._stiction import Error, Scene

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = require("torch")


def step(scene: Scene, x: Any, u: Any = None, parameters: Any = None, threads: int | None = None) -> Tensor:
    """The state after a step, (..., nq + nv).

    x (..., nq + nv), u (..., nu), parameters (..., np, those selected): tensors or what makes one, whose leading axes
    are broadcast together. What is left out is as the scene has it. All is computed in float64, on the CPU, and the
    result has dtype and device of x (float64, if x is of integers), so that one of float32 is rounded at the end.
    Gradients are in the numbers of x; those in a quaternion are orthogonal to it.
    """
    x = _tensor("x", x)
    u, p = _given(scene, u, parameters)
    if scene.nu == 1 and u.ndim == 0:
        u = u.reshape(1)
    _ambient.demand_shapes(scene, x, u, p)
    return _step(scene, threads, x.to(torch.float64), u, p).to(_kind(x))


def rollout(scene: Scene, x0: Any, U: Any, parameters: Any = None, threads: int | None = None) -> Tensor:
    """The states along a motion: x0 (..., nq + nv), U (..., N, nu) to (..., N + 1, nq + nv), rounded to the dtype of x0
    at the end; see `step`."""
    x0 = _tensor("x0", x0)
    U, p = _given(scene, U, parameters, "U")
    _ambient.demand_shape("x0", x0, scene.nq + scene.nv)
    _ambient.demand_shape("U", U, scene.nu, sequence=True)
    _ambient.demand_shape("parameters", p, scene.np)
    states = [x0.to(torch.float64)]
    for u in torch.unbind(U, dim=-2):
        states.append(_step(scene, threads, states[-1], u, p))
    return torch.stack(torch.broadcast_tensors(*states), dim=-2).to(_kind(x0))


def _tensor(name, given):
    """A tensor of real numbers."""
    try:
        tensor = torch.as_tensor(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise Error(f"{name}: cannot be made a tensor: {error}") from error
    if tensor.is_complex():
        raise Error(f"{name}: must be real numbers, found a tensor of {tensor.dtype}")
    return tensor


def _given(scene, u, p, name="u"):
    """Inputs and parameters, of the scene if they are left out."""
    return _tensor(name, scene.u0 if u is None else u), _tensor("parameters", scene.p0 if p is None else p)


def _kind(x):
    return x.dtype if x.is_floating_point() else torch.float64


def _step(scene, threads, x, u, p):
    try:
        leading = torch.broadcast_shapes(x.shape[:-1], u.shape[:-1], p.shape[:-1])
    except RuntimeError as error:
        shapes = ", ".join(f"{name} {tuple(a.shape)}" for name, a in (("x", x), ("u", u), ("parameters", p)))
        raise Error(f"the leading axes do not match: {shapes}") from error
    return _Step.apply(scene, threads, *(each.expand(*leading, each.shape[-1]) for each in (x, u, p)))


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(context, scene, threads, x, u, p):
        context.save_for_backward(x, u, p)
        x_next = scene.step(*map(_numbers, (x, u, p)), threads=threads)
        context.scene, context.threads, context.x_next = scene, threads, x_next
        # A copy: what the caller writes into the result must not reach x_next, which gradients need.
        return torch.tensor(x_next, device=x.device)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, gradient):
        arguments = context.saved_tensors
        x, u, p = map(_numbers, arguments)
        found = _ambient.vjp(context.scene, x, u, p, context.x_next, _numbers(gradient), context.threads)
        like = (torch.as_tensor(g).to(a.device, a.dtype) for g, a in zip(found, arguments))
        needed = zip(like, context.needs_input_grad[2:])
        return None, None, *(gradient if wanted else None for gradient, wanted in needed)


def _numbers(tensor):
    return tensor.detach().cpu().numpy().astype(np.float64)
