"""Steps of a scene in PyTorch: `stiction.torch.step(scene, x, u, parameters)`, differentiated in reverse."""

import numpy as np

from . import _ambient
from ._optional import require

torch = require("torch")


def step(scene, x, u=None, parameters=None, threads=None):
    """The state after a step, (..., nq + nv).

    x (..., nq + nv), u (..., nu), parameters (..., np, those selected): tensors or what makes one, whose leading axes
    are broadcast together. What is left out is as the scene has it. All is computed in float64, on the CPU, and the
    result has dtype and device of x (float64, if x is of integers), so that one of float32 is rounded at the end.
    Gradients are in the numbers of x; those in a quaternion are orthogonal to it.
    """
    x = torch.as_tensor(x)
    u = torch.as_tensor(scene.u0 if u is None else u)
    p = torch.as_tensor(scene.p0 if parameters is None else parameters)
    if scene.nu == 1 and u.ndim == 0:
        u = u.reshape(1)
    leading = torch.broadcast_shapes(x.shape[:-1], u.shape[:-1], p.shape[:-1])
    x, u, p = (each.expand(*leading, each.shape[-1]) for each in (x, u, p))
    return _Step.apply(scene, threads, x, u, p)


def rollout(scene, x0, U, parameters=None, threads=None):
    """The states along a motion: x0 (..., nq + nv), U (..., N, nu) to (..., N + 1, nq + nv); see `step`."""
    states = [torch.as_tensor(x0)]
    for u in torch.unbind(torch.as_tensor(U), dim=-2):
        states.append(step(scene, states[-1], u, parameters, threads))
    return torch.stack(torch.broadcast_tensors(*states), dim=-2)


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(context, scene, threads, x, u, p):
        context.save_for_backward(x, u, p)
        x_next = scene.step(*map(_numbers, (x, u, p)), threads=threads)
        context.scene, context.threads, context.x_next = scene, threads, x_next
        return torch.as_tensor(x_next).to(x.device, x.dtype if x.is_floating_point() else None)

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
