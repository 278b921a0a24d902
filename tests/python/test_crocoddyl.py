"""Action models in Crocoddyl: against its numeric differences, and FDDP through contact."""

import numpy as np
import pytest
from conftest import CUBE, optional, some_state

import stiction

crocoddyl = optional("crocoddyl")
from stiction.crocoddyl import ActionModel, InputResidual, State, StateResidual  # noqa: E402


def model_of(scene, target=None, residuals=()):
    state = State(scene)
    target = scene.x0 if target is None else target
    built_in = [StateResidual(state, target, np.arange(1, 2 * scene.nv + 1)), InputResidual(scene, 0.1, 0.5)]
    return ActionModel(scene, [*built_in, *residuals], state)


def test_the_manifold_is_that_of_numeric_differences(joints, random):
    state = State(joints)
    numeric = crocoddyl.StateNumDiff(state)
    first, second, both = (getattr(crocoddyl.Jcomponent, name) for name in ("first", "second", "both"))
    for scale in (1e-5, 1.0):
        x, dx = state.rand(), scale * random.standard_normal(state.ndx)
        y = state.integrate(x, dx)
        np.testing.assert_allclose(state.diff(x, y), dx, atol=1e-12)
        for name, other in (("Jdiff", y), ("Jintegrate", dx)):
            exact, found = getattr(state, name)(x, other, both), getattr(numeric, name)(x, other, both)
            for k, component in enumerate((first, second)):
                np.testing.assert_allclose(exact[k], found[k], atol=1e-6)
                np.testing.assert_array_equal(getattr(state, name)(x, other, component), exact[k])
        J = random.standard_normal((state.ndx, 3))
        np.testing.assert_allclose(
            state.JintegrateTransport(x, dx, J.copy(), second), state.Jintegrate(x, dx, second) @ J
        )
    assert state.zero()[3] == 1 and np.linalg.norm(state.zero()) == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("inputs", [["all"], ["motor/u"]])
def test_derivatives_are_numeric_differences(joints, random, inputs):
    scene = joints.select(inputs=inputs)

    def lift(x, u):
        """A residual of one's own: a height, and an input times a speed."""
        speed = x[scene.nq + 2]
        r_x = np.zeros((2, 2 * scene.nv))
        r_x[0, 2] = 1
        r_u = np.zeros((2, scene.nu))
        if u is not None:
            r_x[1, scene.nv + 2], r_u[1, 0] = u[0], speed
        return [x[2] - 2, 0 if u is None else u[0] * speed], r_x, r_u

    model = model_of(scene, residuals=[lift])
    numeric = crocoddyl.ActionModelNumDiff(model)
    numeric.disturbance = 1e-7
    x, u = some_state(scene, random), random.standard_normal(scene.nu)
    check(model, numeric, x, u)


def test_a_state_residual_is_of_a_scene_or_its_state(joints, random):
    x, target, weights = some_state(joints, random), some_state(joints, random), np.arange(1, 2 * joints.nv + 1)
    of_scene, of_state = (StateResidual(each, target, weights)(x, None) for each in (joints, State(joints)))
    assert of_scene[2] is None and of_state[2] is None
    for k in range(2):
        np.testing.assert_array_equal(of_scene[k], of_state[k])
    np.testing.assert_allclose(joints.integrate(target, of_scene[0] / np.sqrt(weights)), x, atol=1e-12)
    with pytest.raises(stiction.Error, match="state: must be a stiction.Scene or a State, found ndarray"):
        StateResidual(x, target)


def check(model, numeric, x, u):
    data, expected = model.createData(), numeric.createData()
    for arguments in ((x, u), (x,)):
        model.calc(data, *arguments)
        model.calcDiff(data, *arguments)
        numeric.calc(expected, *arguments)
        numeric.calcDiff(expected, *arguments)
        assert data.cost == expected.cost
        np.testing.assert_allclose(data.Lx, expected.Lx, rtol=1e-5, atol=1e-4)
        if len(arguments) == 2:
            np.testing.assert_array_equal(data.xnext, expected.xnext)
            np.testing.assert_allclose(data.Fx, expected.Fx, atol=2e-4)
            np.testing.assert_allclose(data.Fu, expected.Fu, atol=2e-4)
            np.testing.assert_allclose(data.Lu, expected.Lu, rtol=1e-5, atol=1e-4)
    assert np.shape(data.Fu) == np.shape(expected.Fu)


def test_derivatives_of_contact_are_numeric_differences(cube):
    # A tenth of a millimetre in the floor, not on the kink where contact begins.
    x = cube.x0
    x[2], x[7], x[8] = 0.0999, 1, 0.5
    model = model_of(cube)
    numeric = crocoddyl.ActionModelNumDiff(model)
    numeric.disturbance = 1e-6
    check(model, numeric, x, np.array([1, 0.5, 0, 0, 0, 0.01]))


def push(scene, residuals=(), steps=50):
    """From rest 0.2 m along x, to be at rest there again: by one force against friction."""
    target = scene.x0
    target[0] = 0.2
    state = State(scene)
    weights = np.zeros(12)
    weights[[0, 6]] = 1e3, 1e2
    running = ActionModel(scene, [InputResidual(scene, 1e-3), *residuals], state)
    terminal = ActionModel(scene, [StateResidual(state, target, weights)], state)
    return crocoddyl.ShootingProblem(scene.x0, [running] * steps, terminal)


def test_fddp_pushes_a_cube_against_friction_to_a_target(cube):
    scene = cube.select(inputs=["cube/fx"])
    problem = push(scene)
    solver = crocoddyl.SolverFDDP(problem)
    # Below mu m g = 2.9 N nothing moves, and no derivative says how to: the first guess must slide.
    us = [np.array([4.0])] * problem.T
    done = solver.solve(problem.rollout(us), us, 100, False)
    assert done
    end = solver.xs[-1]
    assert end[0] == pytest.approx(0.2, abs=2e-3) and abs(end[7]) < 2e-2
    # What was found is a motion of the scene.
    U = np.array([np.reshape(u, 1) for u in solver.us])
    np.testing.assert_allclose(scene.rollout(scene.x0, U)[-1], end, atol=1e-6)
    # Friction brakes for nothing: no force at the end would move the cube back.
    assert U[:10].min() > 2.9 and U[-1, 0] > -2.9


def test_an_exception_comes_out_of_the_solver_as_it_is(cube):
    class Mine(Exception):
        pass

    scene, calls = cube.select(inputs=["cube/fx"]), []

    def fails(x, u):
        calls.append(u)
        if len(calls) > 120:
            raise Mine("of a residual")
        return [0.0], None, None

    problem = push(scene, [fails])
    us = [np.array([4.0])] * problem.T
    with pytest.raises(Mine, match="of a residual"):
        crocoddyl.SolverFDDP(problem).solve(problem.rollout(us), us, 100, False)
    problem = push(scene)
    us[3] = np.array([np.inf])
    with pytest.raises(stiction.Error, match="cube/fx: must be finite, found inf"):
        problem.rollout(us)


class Foreign(crocoddyl.ActionModelAbstract):
    """A last model that is none of ours."""

    def calc(self, data, x, u=None):
        data.cost = 0.0

    def calcDiff(self, data, x, u=None):
        data.Lx, data.Lxx = np.zeros(12), np.zeros((12, 12))


def test_an_exception_that_nobody_fetched_stays_with_its_problem(cube):
    scene, other = cube.select(inputs=["cube/fx"]), cube.select(inputs=["cube/fx"])

    def fails(x, u):
        raise RuntimeError("of a residual")

    state = State(scene)
    model = ActionModel(scene, [fails], state)
    problem = crocoddyl.ShootingProblem(scene.x0, [model] * 5, Foreign(state, 1))
    xs, us = [scene.x0] * 6, [np.array([4.0])] * 5
    assert np.isnan(problem.calc(xs, us))
    # Another problem solves, though the failed one has left its exception.
    unrelated = push(other, steps=5)
    assert np.isfinite(unrelated.calc(unrelated.rollout(us), us))
    with pytest.raises(RuntimeError, match="of a residual"):
        model.calc(model.createData(), scene.x0, us[0])
    # It came out of a call of its own state: nothing is left.
    quiet = ActionModel(scene, [], state)
    quiet.calc(quiet.createData(), scene.x0, us[0])


def test_other_numbers_than_vectors_of_float64(cube):
    scene = cube.select(inputs=["cube/fx"])
    model = model_of(scene)
    x, u = scene.x0, np.array([4.0])
    data, expected = model.createData(), model.createData()
    model.calc(expected, x, u)
    model.calcDiff(expected, x, u)
    assert np.reshape(expected.Fu, (12, 1))[6, 0] == pytest.approx(0.01)
    for other in (4.0, np.float32(4), np.array(4), np.array([4]), np.array([4], dtype=np.float32)):
        model.calc(data, x, other)
        model.calcDiff(data, x, other)
        np.testing.assert_array_equal(data.xnext, expected.xnext)
        np.testing.assert_array_equal(data.Fu, expected.Fu)
    # The step length of a line search in float32.
    solver = crocoddyl.SolverFDDP(push(scene, steps=5))
    us = [u] * 5
    xs = solver.problem.rollout(us)
    solver.setCandidate(xs, us, True)
    solver.computeDirection(True)
    assert np.isfinite(solver.tryStep(float(np.float32(0.5))))
