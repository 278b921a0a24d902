"""Jacobians of one step of motion without contact in the conventions of MuJoCo, Pinocchio and Drake, by others' means.

    STICTION_SHARED=../shared python answers.py        # writes a JSON each of the models of ../smooth beside this file

The step is MuJoCo's Euler: (M + dt D)(v+ - v) = dt f, q+ = q (+) dt v+. `mujoco`: differences of MuJoCo's own. `pinocchio`:
derivatives of Pinocchio's rnea, put together below in its coordinates; no differences. `drake`: the same by Drake, see
`by_drake.py`. Each is held against differences in 300 bits of `../dynamics/precise.py`, between states converted below; the
script stops where they differ.
"""
import importlib.metadata
import json
import pathlib
import sys

import gmpy2
import mujoco
import numpy as np
import pinocchio as pin

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "dynamics"), str(HERE.parent / "smooth")]
import compact
from by_drake import ByDrake
from conventions import Tree, skew
from mujoco_answers import VERSIONS, models
from precise import STEP, Precise, big, cross, rotation_of, solve

MODELS = ["arm7", "arm7_damped", "arm7_servo", "planar", "tree_free", "tree_fixed"]
VERSIONS = VERSIONS | {"drake": importlib.metadata.version("drake")}
# Largest difference of two routes, relative to max(1, largest of the row).
EXACT, IN_DOUBLES, DIFFERENCES = 1e-12, 1e-9, 1e-7


class Law:
    """Forces of joints and actuators without that of damping: constant - of_q q - of_v v + gain u, and damping."""

    def __init__(self, model, q_of):
        joints = [body["joint"] for body in model["bodies"]]
        width = {"fixed": 0, "free": 6, "ball": 3}
        spread = lambda key: np.array([j.get(key, 0.0) for j in joints for _ in range(width.get(j["kind"], 1))])
        actuators = model.get("actuators", [])
        nv = len(q_of)
        self.q_of, self.damping, self.of_q, self.of_v = q_of, spread("damping"), spread("stiffness"), np.zeros(nv)
        self.constant = self.of_q * spread("rest")
        self.gain = np.zeros((nv, len(actuators)))
        for k, a in enumerate(actuators):
            i, gear = a["v"], a["gear"]
            self.gain[i, k] = gear * {"motor": 1.0, "position": a["kp"], "velocity": a["kd"]}[a["kind"]]
            if a["kind"] != "motor":
                self.of_q[i] += gear * gear * a["kp"]
                self.of_v[i] += gear * gear * a["kd"]

    def of(self, q, v, controls):
        return self.constant - self.of_q * q[self.q_of] - self.of_v * v + self.gain.dot(controls)


class Analytic:
    """The step in Pinocchio's coordinates, with its derivatives.

    u: Pinocchio's velocity. At a free joint v = R u, so v' = R (u' + w x u) and the rate of u that leaves v as it is is
    a0 = -w x u. With M w = tau - D u - rnea(q, u, a0), M including dt D: z = u + dt w is the new v in the frame of the start,
    u+ = E' z with E = exp(dt z_angular), and R+ = R E, p+ = p + dt R z.
    """

    def __init__(self, model):
        self.tree = Tree(model)
        self.model, self.data = self.tree.model, self.tree.data
        # The first is the world.
        self.joints = list(self.model.joints)[1:]
        q_of = np.zeros(self.model.nv, dtype=int)
        for j in self.joints:
            if j.nq == 1:
                q_of[j.idx_v] = j.idx_q
        self.law = Law(model, q_of)

    def step(self, q, u, forces, controls, dt):
        """q, u after it, A, B; all in Pinocchio's coordinates."""
        model, nv, law = self.model, self.model.nv, self.law
        held, held_u = np.zeros(nv), np.zeros((nv, nv))
        for j, start in self.free():
            linear, angular = u[start:start + 3], u[start + 3:start + 6]
            held[start:start + 3] = -np.cross(angular, linear)
            held_u[start:start + 3, start:start + 3] = -skew(angular)
            held_u[start:start + 3, start + 3:start + 6] = skew(linear)
        mass = pin.crba(model, self.data, q, pin.Convention.WORLD).copy()
        mass = np.triu(mass) + np.triu(mass, 1).T
        matrix = mass + dt * np.diag(law.damping)
        tau = forces + law.of(q, u, controls) - law.damping * u
        rate = np.linalg.solve(matrix, tau - pin.rnea(model, self.data, q, u, held))
        rnea_q, rnea_u, _ = pin.computeRNEADerivatives(model, self.data, q, u, held + rate)
        rate_x = np.hstack([-rnea_q - np.diag(law.of_q), -rnea_u - mass @ held_u - np.diag(law.damping + law.of_v), np.eye(nv), law.gain])
        rate_x = np.linalg.solve(matrix, rate_x)
        z, z_x = u + dt * rate, dt * rate_x
        z_x[:, nv:2 * nv] += np.eye(nv)

        after_q, after_u = q.copy(), z.copy()
        full = np.vstack([np.eye(nv, z_x.shape[1]) + dt * z_x, z_x])
        for j in self.joints:
            i, k = j.idx_q, j.idx_v
            if j.nq == 1:
                after_q[i] += dt * z[k]
            if j.nq not in (4, 7):
                continue
            turn = slice(k + j.nv - 3, k + j.nv)
            back, right = pin.exp3(dt * z[turn]).T, dt * pin.Jexp3(dt * z[turn])
            after_q[i + j.nq - 4:i + j.nq] = (pin.Quaternion(q[i + j.nq - 4:i + j.nq]) * pin.Quaternion(back.T)).coeffs()
            turned = right @ z_x[turn]
            full[turn] = turned
            full[turn, turn] += back
            if j.nq == 7:
                shift = slice(k, k + 3)
                rotation = pin.Quaternion(q[i + 3:i + 7]).toRotationMatrix()
                after_q[i:i + 3] += dt * rotation @ z[shift]
                after_u[shift] = back @ z[shift]
                full[shift] = dt * back @ z_x[shift]
                full[shift, shift] += back
                full[shift, turn] -= dt * back @ skew(z[shift])
                full[nv + k:nv + k + 3] = back @ z_x[shift] + skew(after_u[shift]) @ turned
        return after_q, after_u, full[:, :2 * nv], full[:, 2 * nv:]

    def by_differences(self, q, u, forces, controls, dt, h=1e-3):
        """A and B again: differences of the steps alone, by Pinocchio's own integrate and difference."""
        nv, end = self.model.nv, self.step(q, u, forces, controls, dt)

        def away(d):
            moved = pin.integrate(self.model, q, d[:nv])
            after = self.step(moved, u + d[nv:2 * nv], forces + d[2 * nv:3 * nv], controls + d[3 * nv:], dt)
            return np.concatenate([pin.difference(self.model, end[0], after[0]), after[1] - end[1]])

        columns = [(8 * (away(h * e) - away(-h * e)) - away(2 * h * e) + away(-2 * h * e)) / (12 * h) for e in np.eye(3 * nv + len(controls))]
        return np.split(np.array(columns).T, [2 * nv], axis=1)

    def free(self):
        return [(j.idx_q, j.idx_v) for j in self.joints if j.nq == 7]


# States of ours in other conventions and back, in many digits, joint by joint: q and v of it, its forces, where a
# displacement of it leads, and the displacement between two.


def product(a, b):
    return np.concatenate([[a[0] * b[0] - a[1:].dot(b[1:])], a[0] * b[1:] + b[0] * a[1:] + cross(a[1:], b[1:])])


def small(turn):
    """Quaternion of a rotation vector."""
    angle = gmpy2.sqrt(turn.dot(turn))
    return np.concatenate([[gmpy2.cos(angle / 2)], (gmpy2.sin(angle / 2) / angle if angle else gmpy2.mpfr(0.5)) * turn])


def turn_of(rotation):
    """Rotation vector of a small rotation, to second order."""
    return np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]], dtype=object) / 2


class Ours:
    """Position, w x y z; v in the world, w in the body; turns on the right."""

    def q(self, q):
        return q

    def v(self, r, v):
        return v

    def from_v(self, r, v):
        return v

    forces, from_forces = v, from_v

    def moved(self, q, dq):
        """In our numbers, as those of the next."""
        return np.concatenate([q[:-4] + dq[:-3], product(q[-4:], small(dq[-3:]))])

    def difference(self, q, other):
        return np.concatenate([other[:-4] - q[:-4], turn_of(rotation_of(q[-4:]).T.dot(rotation_of(other[-4:])))])


class OfPinocchio(Ours):
    """x y z w; linear in the body. A displacement: in the body."""

    def q(self, q):
        return np.concatenate([q[:-4], np.roll(q[-4:], -1)])

    def v(self, r, v):
        return np.concatenate([r.T.dot(v[:3]), v[3:]]) if len(v) == 6 else v

    def from_v(self, r, v):
        return np.concatenate([r.dot(v[:3]), v[3:]]) if len(v) == 6 else v

    forces, from_forces = v, from_v

    def moved(self, q, dq):
        return super().moved(q, self.from_v(rotation_of(q[-4:]), dq))

    def difference(self, q, other):
        return self.v(rotation_of(q[-4:]), super().difference(q, other))


class OfDrake(Ours):
    """Angular first, all in the world. Turns on the left."""

    def q(self, q):
        return np.concatenate([q[-4:], q[:-4]])

    def v(self, r, v):
        return np.concatenate([r.dot(v[-3:]), v[:-3]])

    def from_v(self, r, v):
        return np.concatenate([v[3:], r.T.dot(v[:3])])

    forces, from_forces = v, from_v

    def moved(self, q, dq):
        return np.concatenate([q[:-4] + dq[3:], product(small(dq[:3]), q[-4:])])

    def difference(self, q, other):
        return np.concatenate([turn_of(rotation_of(other[-4:]).dot(rotation_of(q[-4:]).T)), other[:-4] - q[:-4]])


class Exact:
    """The step in 300 bits."""

    def __init__(self, model, law):
        self.tree, self.law = Precise(model), Law.__new__(Law)
        for key in ("damping", "of_q", "of_v", "constant", "gain"):
            setattr(self.law, key, big(getattr(law, key)))
        self.law.q_of = law.q_of
        self.nq, self.nv = self.tree.nq, self.tree.nv
        self.turning = [(slice(b["q"], b["q"] + n), slice(b["v"], b["v"] + n - 1)) for b in self.tree.bodies
                        for n in [{"free": 7, "ball": 4}.get(b["kind"], 0)] if n]

    def step(self, x, inputs, dt):
        q, v, nv = x[:self.nq], x[self.nq:], self.nv
        matrix = self.tree.mass_matrix(q) + dt * np.diag(self.law.damping)
        force = inputs[:nv] + self.law.of(q, v, inputs[nv:]) - self.law.damping * v - self.tree.rnea(q, v, big(np.zeros(nv)))
        v = v + dt * solve(matrix, force)
        return np.concatenate([self.tree.moved(q, dt * v), v])

    def express(self, convention, x, inputs):
        """x and inputs of ours in a convention."""
        out, forces = x.copy(), inputs.copy()
        for i, k in self.turning:
            r, at = rotation_of(x[i][-4:]), slice(self.nq + k.start, self.nq + k.stop)
            out[i], out[at], forces[k] = convention.q(x[i]), convention.v(r, x[at]), convention.forces(r, inputs[k])
        return out, forces

    def displaced(self, convention, x, inputs, d):
        """x and inputs of ours, displaced by [dq; dv; du] of a convention."""
        nv = self.nv
        seen, felt = self.express(convention, x, inputs)
        seen[self.nq:] += d[nv:2 * nv]
        felt += d[2 * nv:]
        out, forces = seen.copy(), felt.copy()
        for body in self.tree.bodies:
            if body["kind"] in ("revolute", "prismatic"):
                out[body["q"]] += d[body["v"]]
        for i, k in self.turning:
            out[i] = convention.moved(x[i], d[k])
            r, at = rotation_of(out[i][-4:]), slice(self.nq + k.start, self.nq + k.stop)
            out[at], forces[k] = convention.from_v(r, seen[at]), convention.from_forces(r, felt[k])
        return out, forces

    def difference(self, convention, x, other):
        nv, none = self.nv, big(np.zeros(self.nv + self.law.gain.shape[1]))
        out = big(np.zeros(2 * nv))
        for body in self.tree.bodies:
            if body["kind"] in ("revolute", "prismatic"):
                out[body["v"]] = other[body["q"]] - x[body["q"]]
        for i, k in self.turning:
            out[k] = convention.difference(x[i], other[i])
        out[nv:] = self.express(convention, other, none)[0][self.nq:] - self.express(convention, x, none)[0][self.nq:]
        return out

    def derivative(self, function, n):
        return np.array([(function(STEP * e) - function(-STEP * e)) / (2 * STEP) for e in big(np.eye(n))], dtype=object).T

    def jacobians(self, convention, x, inputs, dt):
        """The end in our numbers, A and B in a convention."""
        end, n = self.step(x, inputs, dt), 2 * self.nv + len(inputs)
        away = lambda d: self.difference(convention, end, self.step(*self.displaced(convention, x, inputs, d), dt))
        full = self.derivative(away, n)
        return end, full[:, :2 * self.nv], full[:, 2 * self.nv:]


def of_mujoco(m, q, v, forces, controls):
    """The end, A and B of mjd_transitionFD, columns of the forces by differences of mj_step."""
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    d, nv = mujoco.MjData(m), m.nv

    def reset(more=0.0):
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:], d.ctrl[:], d.qfrc_applied[:] = q, v, controls, forces + more

    reset()
    mujoco.mj_forward(m, d)
    a, b = np.zeros((2 * nv, 2 * nv)), np.zeros((2 * nv, m.nu))
    mujoco.mjd_transitionFD(m, d, 1e-6, True, a, b, None, None)
    assert not d.ncon and not d.nefc

    def after(more):
        reset(more)
        mujoco.mj_step(m, d)
        return d.qpos.copy(), d.qvel.copy()

    h, columns = 1e-3, []
    for e in np.eye(nv):
        (low_q, low_v), (high_q, high_v) = after(-h * e), after(h * e)
        dq = np.zeros(nv)
        mujoco.mj_differentiatePos(m, dq, 2 * h, low_q, high_q)
        columns.append(np.concatenate([dq, (high_v - low_v) / (2 * h)]))
    return np.concatenate(after(0.0)), a, np.hstack([np.array(columns).T, b])


def off(a, b):
    """Largest difference, relative to max(1, largest of the row)."""
    a, b = np.atleast_2d(np.array(a, dtype=float)), np.atleast_2d(np.array(b, dtype=float))
    return float((np.abs(a - b).max(axis=1, initial=0) / np.maximum(1, np.abs(b).max(axis=1, initial=0))).max())


def answers(m, model, q, v, forces, controls, dt, worst):
    def check(key, a, b, limit):
        worst[key] = max(worst.get(key, 0.0), off(a, b))
        assert worst[key] < limit, (model["name"], key, worst[key])

    analytic = Analytic(model)
    exact, nv = Exact(model, analytic.law), len(v)
    ours, pinocchio, drake = Ours(), OfPinocchio(), OfDrake()
    x, inputs = np.concatenate([q, v]), np.concatenate([forces, controls])
    big_x, big_inputs, step = big(x), big(inputs), big([dt])[0]

    end, a, b = of_mujoco(m, q, v, forces, controls)
    exact_end, exact_a, exact_b = exact.jacobians(ours, big_x, big_inputs, step)
    check("mujoco_f", end, exact_end, EXACT)
    check("mujoco_A", a, exact_a, DIFFERENCES)
    check("mujoco_B", b, exact_b, DIFFERENCES)
    fewer = lambda matrix: [[float(f"{n:.10g}") for n in row] for row in matrix]
    out = {"mujoco": {"x": x, "f": end, "u": inputs, "A": fewer(a), "B": fewer(b)}}

    def entry(convention, a, b):
        start, felt = exact.express(convention, big_x, big_inputs)
        after, _ = exact.express(convention, exact_end, big_inputs)
        return {key: np.array(n, dtype=float) for key, n in [("x", start), ("f", after), ("u", felt), ("A", a), ("B", b)]}

    start, felt = (n.astype(float) for n in exact.express(pinocchio, big_x, big_inputs))
    end_q, end_u, pin_a, pin_b = analytic.step(start[:len(q)], start[len(q):], felt[:nv], controls, dt)
    out["pinocchio"] = entry(pinocchio, pin_a, pin_b)
    _, a, b = exact.jacobians(pinocchio, big_x, big_inputs, step)
    check("pinocchio_f", np.concatenate([end_q, end_u]), out["pinocchio"]["f"], EXACT)
    check("pinocchio_A", pin_a, a, EXACT)
    check("pinocchio_B", pin_b, b, EXACT)
    a, b = analytic.by_differences(start[:len(q)], start[len(q):], felt[:nv], controls, dt)
    check("pinocchio_difference_A", pin_a, a, IN_DOUBLES)
    check("pinocchio_difference_B", pin_b, b, IN_DOUBLES)
    # Without free and ball joints all conventions are one.
    if exact.turning:
        start, felt = (n.astype(float) for n in exact.express(drake, big_x, big_inputs))
        end, drake_a, drake_b = ByDrake(model, analytic.law).step(start[:len(q)], start[len(q):], felt[:nv], controls, dt)
        out["drake"] = entry(drake, drake_a, drake_b)
        _, a, b = exact.jacobians(drake, big_x, big_inputs, step)
        check("drake_f", end, out["drake"]["f"], EXACT)
        check("drake_A", drake_a, a, EXACT)
        check("drake_B", drake_b, b, EXACT)
    return out


def main():
    total = 0
    for name, what, model, _, dt, q, v, controls, applied in models():
        if name not in MODELS:
            continue
        motion = json.loads((HERE.parent / f"smooth/{name}.json").read_text())
        run = next(run for run in motion["runs"] if run["integrator"] == "Euler")
        m = mujoco.MjModel.from_xml_path(str(HERE.parent / "smooth" / motion["model"]))
        worst, states = {}, []
        for row in (0, -1):
            states.append(answers(m, model, np.array(run["q"][row]), np.array(run["v"][row]), applied, controls[row], dt, worst))
        size = compact.write(HERE / f"{name}.json", {
            "what": what, "versions": VERSIONS, "checked": worst, "model": f"../smooth/{motion['model']}", "time_step": dt, "states": states,
        }, 4)
        total += size
        print(name, size, worst)
    print("bytes", total)


if __name__ == "__main__":
    main()
