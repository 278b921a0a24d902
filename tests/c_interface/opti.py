"""Exported libraries in CasADi: `python opti.py STICTION BOX.so BOX.toml ROD.so LEARNED.so DAMAGED.so`.

BOX: a box that rests on the floor, pushed by fx alone; ROD: a pendulum with one motor; LEARNED: a cart on
a learned potential; DAMAGED: a library without
a scene.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import casadi as ca
import numpy as np

program, box_library, box_scene, rod_library, learned_library, damaged = sys.argv[1:]
MASS, MU, G, DT = 1.0, 0.3, 9.81, 0.05
PX, QW, VX = 0, 3, 7
QUIET = {"hessian_approximation": "limited-memory", "print_level": 0, "sb": "yes"}


def raises(call, text):
    try:
        call()
    except RuntimeError as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no error with {text!r}")


f = ca.external("stiction_f", box_library)
start = ca.external("stiction_start", box_library)()
assert f.size_in(0) == (13, 1) and f.size_in(1) == (1, 1) and f.name_out(0) == "x_next"
x0 = np.array(start["x"]).ravel()
assert start["u"] == 0 and x0[2] == 0.1 and x0[QW] == 1

# A push that overcomes friction: v+ = v + dt (u / m - mu g). Less than that moves nothing.
pushed = np.array(f(x0, 5.0)).ravel()
assert abs(pushed[VX] - DT * (5 / MASS - MU * G)) < 1e-5, pushed  # contacts give a little
assert abs(np.array(f(x0, 2.0)).ravel()[VX]) < 1e-5

# The Jacobian against central differences in the numbers of x, also off the unit quaternions.
slide = pushed.copy()
slide[QW : QW + 4] *= 1.3
slide[VX:] += [0.4, 0.1, 0, 0, 0, 0.2]
slide[PX + 2] -= 1e-4  # away from the kink where contacts begin to press
jacobian_x, jacobian_u = (np.array(block) for block in f.jacobian()(slide, 1.0, 0))
h = 1e-6
for k in range(13):
    d = h * np.eye(13)[k]
    difference = (np.array(f(slide + d, 1.0)) - np.array(f(slide - d, 1.0))).ravel() / (2 * h)
    assert np.allclose(jacobian_x[:, k], difference, atol=2e-6), (k, jacobian_x[:, k] - difference)
difference = (np.array(f(slide, 1.0 + h)) - np.array(f(slide, 1.0 - h))) / (2 * h)
assert np.allclose(jacobian_u, difference, atol=2e-6)
assert abs(float(f.jacobian()(x0, 5.0, 0)[1][VX]) - DT / MASS) < 1e-4

# What w' f curves like, in CasADi's own way from its gradient: against differences of the gradient.
x, u = ca.MX.sym("x", 13), ca.MX.sym("u")
weights = np.sin(1 + np.arange(13.0))
value = ca.dot(weights, f(x, u))
curved, gradient = (ca.Function("h", [x, u], [entry]) for entry in ca.hessian(value, ca.vertcat(x, u)))
hessian = np.array(curved(slide, 1.0))
expected = np.concatenate([jacobian_x.T @ weights, jacobian_u.T @ weights])
assert np.allclose(np.array(gradient(slide, 1.0)).ravel(), expected.ravel(), atol=1e-10)
assert np.abs(hessian - hessian.T).max() < 1e-9 * np.abs(hessian).max()
for k in range(14):
    d = h * np.eye(14)[k]
    two = [np.array(gradient(slide + s * d[:13], 1.0 + s * d[13])).ravel() for s in (1, -1)]
    assert np.allclose(hessian[:, k], (two[0] - two[1]) / (2 * h), atol=1e-5 * np.abs(hessian).max()), k

# CasADi's own chain rule through two steps, forward and in reverse.
two = f(f(x, u), u)
chain = ca.Function("chain", [x, u], [ca.jacobian(two, x), ca.jtimes(two, x, ca.DM.ones(13), True)])
whole, reverse = (np.array(block) for block in chain(slide, 1.0))
expected = np.array(f.jacobian()(f(slide, 1.0), 1.0, 0)[0]) @ jacobian_x
assert np.allclose(whole, expected, atol=1e-12) and np.allclose(reverse.ravel(), expected.sum(0), atol=1e-12)

# Two libraries in one process, each with its scene.
rod = ca.external("stiction_f", rod_library)
rod_next = np.array(rod([0.1, 0.0], 0.3)).ravel()
acceleration = (2 * 0.3 - 9.81 * 0.5 * np.sin(0.1)) / (0.1 + 0.25)
assert abs(rod_next[1] - 0.002 * acceleration) < 1e-12, rod_next
assert np.array_equal(np.array(f(x0, 5.0)).ravel(), pushed)

# In threads.
forces = np.linspace(0, 9, 32).reshape(1, -1)
states = np.tile(x0.reshape(-1, 1), 32)
threads = np.array(f.map(32, "thread", 4)(states, forces))
assert np.array_equal(threads, np.hstack([np.array(f(x0, force)) for force in forces.ravel()]))

# What is not defined is an error of the evaluation, and the function works on.
raises(lambda: f(np.full(13, np.nan), 0.0), "Evaluation failed")
raises(lambda: f(np.zeros(13), 0.0), "Evaluation failed")
raises(lambda: f(x0, np.inf), "Evaluation failed")
raises(lambda: f.jacobian()(np.zeros(13), 0.0, 0), "Evaluation failed")
raises(lambda: ca.external("stiction_f", damaged), "work")
assert np.array_equal(np.array(f(x0, 5.0)).ravel(), pushed)


def push(steps, target, speed, guess, options):
    """The least pushes, sum of squares, that bring the box from rest to a place at a speed."""
    opti = ca.Opti()
    states, pushes = opti.variable(13, steps + 1), opti.variable(1, steps)
    opti.subject_to(states[:, 0] == x0)
    for k in range(steps):
        opti.subject_to(states[:, k + 1] == f(states[:, k], pushes[k]))
    opti.subject_to(states[PX, steps] == target)
    opti.subject_to(states[VX, steps] == speed)
    opti.minimize(ca.sumsqr(pushes))
    rollout = [x0]
    for _ in range(steps):
        rollout.append(np.array(f(rollout[-1], guess)).ravel())
    opti.set_initial(states, np.array(rollout).T)
    opti.set_initial(pushes, guess)
    opti.solver("ipopt", {"print_time": False}, options)
    solution = opti.solve()
    return solution.value(states), np.array(solution.value(pushes)).ravel(), solution.stats()


steps, target, speed = 20, 0.4, 0.2
states, pushes, stats = push(steps, target, speed, 4.0, QUIET)
assert stats["success"], stats["return_status"]
# With second derivatives, which Ipopt takes by default.
EXACT = {"print_level": 0, "sb": "yes"}
_, exact_pushes, exact = push(steps, target, speed, 4.0, EXACT)
assert exact["success"] and np.allclose(exact_pushes, pushes, atol=1e-4), exact["return_status"]
assert exact["iter_count"] < stats["iter_count"], (exact["iter_count"], stats["iter_count"])

# While the box slides, friction is mu m g: the optimum is a least-norm solution.
rows = np.array([[DT * DT * (steps - k) for k in range(steps)], [DT] * steps]) / MASS
drag = -MU * G * DT
ends = np.array([target - drag * DT * steps * (steps + 1) / 2, speed - drag * steps])
best = np.linalg.lstsq(rows, ends, rcond=None)[0]
assert np.all(np.cumsum(best / MASS + drag / DT) > 0), "it slides all the way"
assert np.allclose(pushes, best, atol=1e-4), pushes - best

# The pushes in the simulator: it ends where it was asked to.
with tempfile.TemporaryDirectory() as folder:
    controls, motion = Path(folder, "u.csv"), Path(folder, "motion.csv")
    rows = [f"{k * DT!r},{float(force)!r}" for k, force in enumerate(pushes)]
    controls.write_text("\n".join(["t,box/fx", *rows, ""]))
    command = [program, "simulate", box_scene, "--steps", str(steps), "--controls", controls, "-o", motion]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    head, *_, last = motion.read_text().split()
    end = dict(zip(head.split(","), map(float, last.split(","))))
    assert abs(end["px"] - target) < 1e-6 and abs(end["vx"] - speed) < 1e-6, end

# A learned potential V = 3 tanh(x + 0.2) + 2 tanh(0.1 - x / 2): v+ = v + dt (u - V') / m, and its derivative in x.
g = ca.external("stiction_f", learned_library)
x = ca.MX.sym("x")
cart = lambda place: g(ca.vertcat(place, 1.0), 0.7)[1]
slope = lambda place: 3 / np.cosh(place + 0.2) ** 2 - 1 / np.cosh(0.1 - place / 2) ** 2
assert abs(float(cart(0.2)) - (1 + DT * (0.7 - slope(0.2)) / 2)) < 1e-12
found = float(ca.Function("d", [x], [ca.jacobian(cart(x), x)])(0.2))
expected = -DT / 2 * (slope(0.2 + 1e-5) - slope(0.2 - 1e-5)) / 2e-5
assert abs(found - expected) < 1e-9, (found, expected)

# A solver whose first step, to s = -2, leads where nothing is defined takes a shorter one.
def spinning(s):
    return ca.vertcat(x0[:10], ca.exp(-200 * s), x0[11:])


raises(lambda: f(spinning(-2.0), 1.0), "Evaluation failed")
opti = ca.Opti()
s = opti.variable()
opti.set_initial(s, 1.0)
opti.minimize((s + 0.5) ** 2 + 1e-200 * f(spinning(s), 1.0)[PX])
opti.solver("ipopt", {"print_time": False}, QUIET)
assert abs(opti.solve().value(s) + 0.5) < 1e-6

# A solver that starts where nothing is defined (Opti's guess is zero, which is no orientation) fails as an
# exception of Python's.
opti = ca.Opti()
state = opti.variable(13)
opti.minimize(ca.sumsqr(f(state, 1.0)))
opti.solver("ipopt", {"print_time": False}, QUIET)
raises(opti.solve, "Invalid_Number_Detected")
print("iterations", stats["iter_count"], "with second derivatives", exact["iter_count"])
