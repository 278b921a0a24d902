"""Scenes in Crocoddyl: `ActionModel`, whose steps are those of a scene, on the manifold `State`.

    state = State(scene)
    running = ActionModel(scene, [InputResidual(scene, 1e-3)], state)
    terminal = ActionModel(scene, [StateResidual(scene, target, weights)], state)
    problem = crocoddyl.ShootingProblem(scene.x0, [running] * 50, terminal)
    solver = crocoddyl.SolverFDDP(problem)
    solver.solve(problem.rollout(us), us)

What sticks does not move for a little more force, so that a guess `us` should slide what is to be moved. Crocoddyl takes
a u with a NaN for none.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy import float64
from numpy.typing import ArrayLike, NDArray

from ._optional import require
from ._stiction import Error, Scene

crocoddyl = require("crocoddyl")
both, first = crocoddyl.Jcomponent.both, crocoddyl.Jcomponent.first

# Crocoddyl calls the models of a horizon from regions of OpenMP, even with one thread, and an exception that left one
# would end the process. It is kept, and raised by the next call from outside of a model with the same state or scene:
# that of the last model, as a rule. What nobody fetches must not come out of another problem.
_library = ctypes.CDLL(sys.modules[crocoddyl.ActionModelAbstract.__module__].__file__)
_region = getattr(_library, "omp_get_level", lambda: 0)
_kept = []
_MOST_KEPT = 16

Array = NDArray[float64]
# r, dr/dx and dr/du, as lists or arrays; None for a derivative that is zero.
Residual = Callable[[Array, "Array | None"], "tuple[ArrayLike, ArrayLike | None, ArrayLike | None]"]


def _kept_of(model):
    """The place in `_kept` of the exception that concerns a model, or None."""
    places = (k for k, (_, state, scene) in enumerate(_kept) if state is model.own_state or scene is model.scene)
    return next(places, None)


def _raises_outside_of_regions(method):
    @functools.wraps(method)
    def guarded(self, data, x, u=None):
        place = _kept_of(self) if _kept else None
        if place is not None and not _region():
            raise _kept.pop(place)[0]
        try:
            if place is None:
                return method(self, data, x, u)
        except BaseException as error:
            if not _region():
                raise
            _kept.append((error, self.own_state, self.scene))
            del _kept[:-_MOST_KEPT]
        # What lets the solver go on to that call.
        data.cost, data.Luu = np.nan, np.eye(self.nu)

    return guarded


class State(crocoddyl.StateAbstract):
    """States [q; v] of a scene, with quaternions w, x, y, z, and tangent vectors [dq; dv], 2 nv numbers."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene.nq + scene.nv, 2 * scene.nv)
        self.scene = scene
        # What moves a quaternion, three numbers of dx each.
        self._rotations = [slice(d, d + 3) for _, d in scene.quaternions]

    def zero(self) -> Array:
        x = np.zeros(self.nx)
        for q, _ in self.scene.quaternions:
            x[q] = 1
        return x

    def rand(self) -> Array:
        return self.integrate(self.zero(), np.random.uniform(-1, 1, self.ndx))

    def diff(self, x0: ArrayLike, x1: ArrayLike) -> Array:
        return self.scene.difference(x0, x1)

    def integrate(self, x: ArrayLike, dx: ArrayLike) -> Array:
        return self.scene.integrate(x, dx)

    def Jdiff(self, x0: ArrayLike, x1: ArrayLike, firstsecond: Any = both) -> Any:
        d = self.diff(x0, x1)
        return self._jacobians(
            firstsecond,
            lambda: self._blocks(-1, lambda r: -np.linalg.inv(_right_jacobian(-d[r]))),
            lambda: self._blocks(1, lambda r: np.linalg.inv(_right_jacobian(d[r]))),
        )

    def Jintegrate(self, x: ArrayLike, dx: ArrayLike, firstsecond: Any = both, op: Any = None) -> Any:
        return self._jacobians(
            firstsecond,
            lambda: self._blocks(1, lambda r: _rotation(dx[r]).T),
            lambda: self._blocks(1, lambda r: _right_jacobian(dx[r])),
        )

    def JintegrateTransport(self, x: ArrayLike, dx: ArrayLike, Jin: Array, firstsecond: Any) -> Array:
        Jin[:] = self.Jintegrate(x, dx, firstsecond) @ Jin
        return Jin

    @staticmethod
    def _jacobians(firstsecond, of_first, of_second):
        if firstsecond == both:
            return [of_first(), of_second()]
        return of_first() if firstsecond == first else of_second()

    def _blocks(self, sign, rotation):
        """A diagonal matrix but for the blocks of rotations."""
        jacobian = sign * np.eye(self.ndx)
        for place in self._rotations:
            jacobian[place, place] = rotation(place)
        return jacobian


class StateResidual:
    """The difference of the state from a target, each number of it times the root of its weight (2 nv, or one).

    state: a scene, or a `State` of it.
    """

    def __init__(self, state: Scene | State, target: ArrayLike, weights: ArrayLike = 1.0) -> None:
        if not isinstance(state, (Scene, State)):
            raise Error(f"state: must be a stiction.Scene or a State, found {type(state).__name__}")
        self.state = State(state) if isinstance(state, Scene) else state
        self.target = np.asarray(target, dtype=float)
        self.root = np.sqrt(np.broadcast_to(np.asarray(weights, dtype=float), self.state.ndx))

    def __call__(self, x: Array, u: Array | None) -> tuple[Array, Array, None]:
        r = self.state.diff(self.target, x)
        return self.root * r, self.root[:, None] * self.state.Jdiff(self.target, x, crocoddyl.Jcomponent.second), None


class InputResidual:
    """The inputs, or their difference from a target, each times the root of its weight (nu, or one)."""

    def __init__(self, scene: Scene, weights: ArrayLike = 1.0, target: ArrayLike = 0.0) -> None:
        self.target = np.broadcast_to(np.asarray(target, dtype=float), scene.nu)
        self.root = np.sqrt(np.broadcast_to(np.asarray(weights, dtype=float), scene.nu))

    def __call__(self, x: Array, u: Array | None) -> tuple[Array, None, Array | None]:
        if u is None:
            return np.zeros(0), None, None
        return self.root * (u - self.target), None, np.diag(self.root)


class ActionModel(crocoddyl.ActionModelAbstract):
    """A step of a scene and a cost, half the sum of squares of residuals.

    residuals: each a function of x and u (None at the end of the horizon) that gives (r, dr/dx, dr/du), dr/dx on tangent
    vectors, with None for a derivative that is zero; `StateResidual` and `InputResidual` are two. Second derivatives of
    the cost are those of Gauss and Newton. state: a `State` of the same scene, to be shared by all models of a problem.

    An exception in a residual or a step ends the solver and comes out of `solve` as it is, raised by the last model of
    the horizon. If that is not an `ActionModel` with the same state or scene, costs are NaN from there on, and the
    exception comes out of the next call of such a model outside of Crocoddyl's threads, which may be in a later solve.
    """

    def __init__(self, scene: Scene, residuals: Iterable[Residual], state: State | None = None) -> None:
        # Crocoddyl's `state` need not be this very object.
        self.own_state = State(scene) if state is None else state
        super().__init__(self.own_state, scene.nu)
        self.scene = scene
        self.residuals = list(residuals)

    @_raises_outside_of_regions
    def calc(self, data: Any, x: ArrayLike, u: ArrayLike | None = None) -> None:
        x, u = self._arguments(x, u)
        data.xnext = x if u is None else self.scene.step(x, u)
        data.cost = sum(0.5 * float(r @ r) for r, _, _ in self._terms(x, u))

    @_raises_outside_of_regions
    def calcDiff(self, data: Any, x: ArrayLike, u: ArrayLike | None = None) -> None:
        x, u = self._arguments(x, u)
        ndx, nu = self.state.ndx, self.nu
        gradient, hessian = np.zeros(ndx + nu), np.zeros((ndx + nu, ndx + nu))
        for r, r_x, r_u in self._terms(x, u):
            jacobian = np.hstack([_matrix(r_x, len(r), ndx), _matrix(r_u, len(r), nu)])
            gradient += jacobian.T @ r
            hessian += jacobian.T @ jacobian
        data.Lx, data.Lxx = gradient[:ndx], hessian[:ndx, :ndx]
        if u is not None:
            data.Lu, data.Luu, data.Lxu = gradient[ndx:], hessian[ndx:, ndx:], hessian[:ndx, ndx:]
            jacobian = self.scene.linearize(x, u)
            data.Fx, data.Fu = jacobian.A, jacobian.B

    def _arguments(self, x, u):
        """As vectors of float64; Crocoddyl may hand over a number where u has one, and others give float32."""
        x = np.asarray(x, dtype=float).reshape(-1)
        return x, None if u is None else np.asarray(u, dtype=float).reshape(-1)

    def _terms(self, x, u):
        for residual in self.residuals:
            r, r_x, r_u = residual(x, u)
            yield np.atleast_1d(np.asarray(r, dtype=float)), r_x, r_u


def _matrix(jacobian, rows, columns):
    if jacobian is None:
        return np.zeros((rows, columns))
    return np.asarray(jacobian, dtype=float).reshape(rows, columns)


def _cross(d):
    x, y, z = d
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def _rotation(d):
    """exp(d)."""
    angle, k = np.linalg.norm(d), _cross(d)
    return np.eye(3) + np.sinc(angle / np.pi) * k + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * k @ k


def _right_jacobian(d):
    """How exp(d) turns, in the frame that it turns, with d."""
    angle, k = np.linalg.norm(d), _cross(d)
    # (1 - sin a / a) / a²
    cubic = 1 / 6 - angle**2 / 120 if angle < 1e-3 else (1 - np.sinc(angle / np.pi)) / angle**2
    return np.eye(3) - 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * k + cubic * k @ k
