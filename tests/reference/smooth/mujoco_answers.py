"""Smooth motion without contact by MuJoCo's integrators, in the conventions of stiction (which are MuJoCo's for q and v).

    STICTION_SHARED=../shared python mujoco_answers.py        # writes models/*.xml and a JSON each beside this file

Every step is made a second time: the integrator written down below, with Pinocchio's aba, mass matrix and derivatives.
"""
import json
import os
import pathlib
import sys

import mujoco
import numpy as np
import pinocchio as pin

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "dynamics")]
import compact
from conventions import Tree, symmetric
from pinocchio_answers import NV_OF, Random, from_mjcf, joint, random_tree

SHARED = pathlib.Path(os.environ.get("STICTION_SHARED", "../shared"))
VERSIONS = {"mujoco": mujoco.__version__, "pin": pin.__version__, "numpy": np.__version__}
STEPS, EVERY = 100, 10
INTEGRATORS = {"Euler": mujoco.mjtIntegrator.mjINT_EULER, "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
               "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST, "RK4": mujoco.mjtIntegrator.mjINT_RK4}
TOLERANCE = 1e-11


# The integrators of MuJoCo, a second time.


class Forces:
    """Forces of joints and actuators: of a model (damping, stiffness, rest of each number of v) and its actuators."""

    def __init__(self, model):
        self.tree = Tree(model)
        joints = [body["joint"] for body in model["bodies"]]
        spread = lambda key: np.array([j.get(key, 0.0) for j in joints for _ in range(NV_OF[j["kind"]])])
        self.damping, self.stiffness, self.rest = spread("damping"), spread("stiffness"), spread("rest")
        # Of each number of v: its place in q, for joints with one.
        self.q_of = np.zeros(len(self.damping), dtype=int)
        for j in self.tree.model.joints:
            if j.nq == 1:
                self.q_of[j.idx_v] = j.idx_q
        self.actuators = model.get("actuators", [])
        # Numbers of v of free bodies on which nothing moves.
        joints = self.tree.model.joints
        self.alone = [j.idx_v for i, j in enumerate(joints) if j.nq == 7 and len(self.tree.model.subtrees[i]) == 1]

    def of(self, q, v, controls, applied):
        """The force and its derivative in v (a diagonal), without damping."""
        tau = applied - self.stiffness * (q[self.q_of] - self.rest)
        slope = np.zeros(len(v))
        for a, u in zip(self.actuators, controls):
            i, gear = a["v"], a["gear"]
            length, rate = gear * q[self.q_of[i]], gear * v[i]
            force = {"motor": u, "position": a["kp"] * (u - length) - a["kd"] * rate, "velocity": a["kd"] * (u - rate)}[a["kind"]]
            tau[i] += gear * force
            slope[i] -= gear * gear * a["kd"]
        return tau, slope

    def chart_rate(self, x, v):
        """x' where R0 exp(x) turns at v in the body: the inverse of the right Jacobian at x, times v."""
        out = v.copy()
        for j in self.tree.model.joints:
            if j.nq in (4, 7):
                k = j.idx_v + j.nv - 3
                turn, w = x[k:k + 3], v[k:k + 3]
                angle = np.linalg.norm(turn)
                if angle > 0:
                    half = angle / 2
                    out[k:k + 3] += np.cross(turn, w) / 2 + (1 - half / np.tan(half)) / angle**2 * np.cross(turn, np.cross(turn, w))
        return out

    def step(self, q, v, dt, controls, applied, integrator):
        tree = self.tree
        if integrator == "RK4":
            # Classical Runge-Kutta in (x, v) with q(x) = q (+) x, x = 0 at the start of the step: x' = v, on rotations Jr(x)^-1 v.
            rate = lambda q, v: tree.aba(q, v, self.of(q, v, controls, applied)[0] - self.damping * v)
            speeds, rates = [v], [rate(q, v)]
            for c in (0.5, 0.5, 1.0):
                x, u = dt * c * speeds[-1], v + dt * c * rates[-1]
                speeds.append(self.chart_rate(x, u))
                rates.append(rate(tree.moved(q, x), u))
            mean = lambda k: (k[0] + 2 * k[1] + 2 * k[2] + k[3]) / 6
            return tree.moved(q, dt * mean(speeds)), v + dt * mean(rates)
        tau, slope = self.of(q, v, controls, applied)
        force = tau - self.damping * v - tree.rnea(q, v, 0 * v)
        matrix = tree.mass_matrix(q) + dt * np.diag(self.damping)
        if integrator != "Euler":
            matrix -= dt * np.diag(slope)
        if integrator in ("implicit", "implicitfast"):
            slope = tree.rnea_derivatives(q, v, 0 * v)[1]
            if integrator == "implicit":
                matrix += dt * slope
            for i in self.alone if integrator == "implicitfast" else []:
                matrix[i:i + 6, i:i + 6] += dt * slope[i:i + 6, i:i + 6]
        v = v + dt * np.linalg.solve(matrix, force)
        return tree.moved(q, dt * v), v


# Models.


def numbers(x):
    return " ".join(compact.number(n) for n in x)


def mjcf_of(model, time_step):
    """MJCF of a model in the terms of the JSON; inertials by their principal axes."""
    lines = [f'<mujoco model="{model["name"]}">', '<compiler angle="radian"/>', f'<option timestep="{time_step}" gravity="{numbers(model["gravity"])}"/>', "<worldbody>"]

    def write(parent):
        for body in model["bodies"]:
            if body["parent"] != parent:
                continue
            j = body["joint"]
            place = "" if j["kind"] == "free" else f' pos="{numbers(j["position"])}" quat="{numbers(j["orientation"])}"'
            lines.append(f'<body name="{body["name"]}"{place}>')
            values, axes = np.linalg.eigh(symmetric(body["inertia"]))
            axes[:, 0] *= np.linalg.det(axes)
            quaternion = np.roll(pin.Quaternion(axes).coeffs(), 1)
            lines.append(f'<inertial pos="{numbers(body["center_of_mass"])}" quat="{numbers(quaternion)}" mass="{numbers([body["mass"]])}" diaginertia="{numbers(values)}"/>')
            if j["kind"] == "free":
                lines.append(f'<freejoint name="{body["name"]}"/>')
            elif j["kind"] != "fixed":
                kind = {"ball": "ball", "revolute": "hinge", "prismatic": "slide"}[j["kind"]]
                axis = "" if kind == "ball" else f' axis="{numbers(j["axis"])}"'
                rest = "".join(f' {name}="{numbers([j[key]])}"' for key, name in
                               [("armature", "armature"), ("damping", "damping"), ("stiffness", "stiffness"), ("rest", "springref")] if j.get(key))
                lines.append(f'<joint name="{body["name"]}" type="{kind}" pos="{numbers(j["anchor"])}"{axis}{rest}/>')
            write(body["name"])
            lines.append("</body>")

    write(None)
    lines.append("</worldbody>")
    if model.get("actuators"):
        joints = [body["name"] for body in model["bodies"] for _ in range(NV_OF[body["joint"]["kind"]])]
        lines.append("<actuator>")
        for a in model["actuators"]:
            gains = {"motor": "", "position": f' kp="{a["kp"]}" kv="{a["kd"]}"', "velocity": f' kv="{a["kd"]}"'}[a["kind"]]
            lines.append(f'<{a["kind"]} joint="{joints[a["v"]]}" gear="{a["gear"]}"{gains}/>')
        lines.append("</actuator>")
    return "\n".join(lines + ["</mujoco>"]) + "\n"


PLANAR = """<mujoco model="planar">
<compiler angle="radian"/>
<option timestep="0.002" gravity="0 0 -9.81"/>
<worldbody>
<body name="base" pos="0.1 0 0.5" quat="0.8 0 0.6 0">
<inertial pos="0.02 0 0.05" mass="2" diaginertia="0.03 0.04 0.02"/>
<joint name="x" type="slide" axis="1 0 0" damping="0.3" armature="0.1"/>
<joint name="z" type="slide" axis="0 0 1" damping="0.2"/>
<joint name="turn" type="hinge" axis="0 1 0" pos="0.05 0 -0.1" damping="0.05" armature="0.02"/>
<body name="wrist" pos="0 0.1 0.3">
<inertial pos="0 0 0.1" mass="0.7" diaginertia="0.006 0.005 0.002"/>
<joint name="r1" type="hinge" axis="1 0 0" damping="0.02"/>
<joint name="r2" type="hinge" axis="0 1 0" pos="0 0 0.04" damping="0.03" stiffness="1.5" springref="0.2"/>
<joint name="r3" type="hinge" axis="0 0 1" pos="0.01 0 0" damping="0.01"/>
</body>
</body>
</worldbody>
</mujoco>
"""


def planar():
    """The same by hand: a body with several joints is a chain of bodies without mass."""
    def body(name, parent, kind, axis, mass=0.0, center=(0, 0, 0), inertia=(0, 0, 0), **of_joint):
        extra = {key: of_joint.pop(key) for key in ("damping", "stiffness", "rest") if key in of_joint}
        return {"name": name, "parent": parent, "joint": joint(kind, axis, **of_joint) | extra, "mass": mass,
                "center_of_mass": list(center), "inertia": [*inertia, 0.0, 0.0, 0.0]}
    bodies = [
        body("x", None, "prismatic", (1, 0, 0), position=(0.1, 0, 0.5), orientation=(0.8, 0, 0.6, 0), damping=0.3, armature=0.1),
        body("z", "x", "prismatic", (0, 0, 1), damping=0.2),
        body("base", "z", "revolute", (0, 1, 0), 2.0, (0.02, 0, 0.05), (0.03, 0.04, 0.02), anchor=(0.05, 0, -0.1), damping=0.05, armature=0.02),
        body("r1", "base", "revolute", (1, 0, 0), position=(0, 0.1, 0.3), damping=0.02),
        body("r2", "r1", "revolute", (0, 1, 0), anchor=(0, 0, 0.04), damping=0.03, stiffness=1.5, rest=0.2),
        body("wrist", "r2", "revolute", (0, 0, 1), 0.7, (0, 0, 0.1), (0.006, 0.005, 0.002), anchor=(0.01, 0, 0), damping=0.01),
    ]
    return {"name": "planar", "gravity": [0.0, 0.0, -9.81], "bodies": bodies}


def models():
    """Name, what, model, MJCF, time step, q, v, controls a step, applied."""
    random = Random(500)
    arm, (home, speed) = from_mjcf(SHARED / "reference/scenes/arm7.xml")
    motors = [{"kind": "motor", "v": i, "gear": 1.0, "kp": 0.0, "kd": 0.0} for i in range(7)]
    times = np.arange(STEPS)[:, None] * 0.002
    waves = np.round(np.array([8, 15, 4, 9, 2, 3, 0.5]) * np.sin(2 * np.pi * (1 + np.arange(7)) * times + np.arange(7)), 3)
    arm["actuators"] = motors
    yield "arm7", "arm7 of the shared scenes", arm, None, 0.002, home, speed, waves, np.zeros(7)

    damped = json.loads(json.dumps(arm)) | {"name": "arm7_damped"}
    for body in damped["bodies"]:
        body["joint"] |= {"armature": random.rounded(0.01, 0.2), "damping": random.rounded(0.05, 3)}
    yield "arm7_damped", "arm7 with armature and damping", damped, mjcf_of(damped, 0.002), 0.002, home, speed, waves, np.zeros(7)

    servo = json.loads(json.dumps(damped)) | {"name": "arm7_servo"}
    for body, rest in zip(servo["bodies"], home):
        body["joint"] |= {"stiffness": random.rounded(0.5, 20), "rest": round(float(rest) + random.rounded(-0.3, 0.3), 3)}
    kinds = ["position", "velocity", "motor", "position", "velocity", "position", "motor"]
    servo["actuators"] = [
        {"kind": kind, "v": i, "gear": random.rounded(0.5, 2), "kp": random.rounded(10, 100) if kind == "position" else 0.0,
         "kd": 0.0 if kind == "motor" else random.rounded(0.5, 5)} for i, kind in enumerate(kinds)
    ]
    yield "arm7_servo", "arm7 with armature, damping, springs; motors, position and velocity actuators", servo, mjcf_of(servo, 0.002), 0.002, home, speed, np.round(0.2 * waves, 3), np.zeros(7)

    for name, base, what in [("tree_free", "tree05", "free root with branches of every kind, armature and damping"),
                             ("tree_several", "tree06", "two trees on the world and a lone free body that turns fast, damping"),
                             ("tree_fixed", "tree10", "twelve bodies on the world, armature and damping")]:
        tree, _, _ = random_tree(base)
        tree["name"] = name
        for body in tree["bodies"]:
            if body["joint"]["kind"] not in ("fixed", "free"):
                body["joint"]["damping"] = random.rounded(0.01, 0.5)
        q, v, _, tau = random.state(tree)
        if name == "tree_several":
            v[4:10] = [0.3, -0.2, 1.0, 9.0, -7.0, 12.0]
        yield name, what, tree, mjcf_of(tree, 0.002), 0.002, q, 0.5 * v if name != "tree_several" else v, np.zeros((STEPS, 0)), np.round(0.2 * tau, 4)

    yield "planar", "bodies with several joints", planar(), PLANAR, 0.002, np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6]), np.array([0.5, 0.4, -1.0, 1.5, 2.0, -3.0]), \
        np.zeros((STEPS, 0)), np.array([1.0, 20.0, 0.3, 0.1, -0.2, 0.05])


def run(m, forces, q, v, controls, applied, name):
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.qfrc_applied[:] = q, v, applied
    m.opt.integrator = INTEGRATORS[name]
    qs, vs, off = [d.qpos.copy()], [d.qvel.copy()], 0.0
    own_q, own_v = np.array(q), np.array(v)
    for k in range(STEPS):
        d.ctrl[:] = controls[k]
        mujoco.mj_step(m, d)
        own_q, own_v = forces.step(own_q, own_v, m.opt.timestep, controls[k], applied, name)
        off = max(off, np.abs(own_q - d.qpos).max(), np.abs(own_v - d.qvel).max() / max(1.0, np.abs(own_v).max()))
        if (k + 1) % EVERY == 0:
            qs.append(d.qpos.copy())
            vs.append(d.qvel.copy())
    assert not d.ncon and not d.nefc
    return qs, vs, off


def energies(m, q, v, integrator, per_sample, samples=10, between=0.05):
    """Kinetic and potential energy, `samples` times after the start."""
    d = mujoco.MjData(m)
    m.opt.timestep, m.opt.integrator = between / per_sample, INTEGRATORS[integrator]
    m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    d.qpos[:], d.qvel[:] = q, v
    rows = []
    for k in range(samples + 1):
        mujoco.mj_forward(m, d)
        rows.append([d.energy[1], d.energy[0]])
        if k < samples:
            mujoco.mj_step(m, d, per_sample)
    return rows, d.qpos.copy(), d.qvel.copy()


def main():
    total = 0
    for name, what, model, text, dt, q, v, controls, applied in models():
        if text is None:
            text = (SHARED / "reference/scenes" / f"{name}.xml").read_text()
        path = HERE / "models" / f"{name}.xml"
        path.write_text(text)
        total += len(text)
        m = mujoco.MjModel.from_xml_path(str(path))
        assert m.opt.timestep == dt and m.nv == len(v) and m.nq == len(q)
        forces, runs, worst = Forces(model), [], {}
        for integrator in INTEGRATORS:
            qs, vs, worst[integrator] = run(m, forces, q, v, controls, applied, integrator)
            runs.append({"integrator": integrator, "q": qs, "v": vs})
        print(name, worst)
        assert max(worst.values()) < TOLERANCE, (name, worst)
        total += compact.write(HERE / f"{name}.json", {
            "what": what, "versions": VERSIONS, "checked": {"largest_difference_to_second_route": max(worst.values())}, "model": f"models/{name}.xml",
            "time_step": dt, "steps": STEPS, "every": EVERY, "applied": applied, "controls": controls if m.nu else [], "runs": runs,
        })
    path = HERE / "models/arm7.xml"
    m = mujoco.MjModel.from_xml_path(str(path))
    rows = []
    for integrator, counts in [("Euler", (50, 100, 200, 400, 800)), ("RK4", (12, 25, 50, 100, 200))]:
        for per_sample in counts:
            energy, last_q, last_v = energies(m, m.key_qpos[0], m.key_qvel[0], integrator, per_sample)
            off = np.abs(np.array(energy).sum(axis=1) - sum(energy[0])).max()
            rows.append({"integrator": integrator, "time_step": m.opt.timestep, "steps_between": per_sample, "energies": energy, "q": last_q, "v": last_v})
            print(integrator, m.opt.timestep, off)
    total += compact.write(HERE / "arm7_energy.json", {
        "what": "[kinetic, potential] energy of arm7 from its keyframe, no controls, at the start and after each 0.05 s up to 0.5 s; q and v at the end",
        "versions": VERSIONS, "model": "models/arm7.xml", "seconds_between": 0.05, "runs": rows,
    })
    print("bytes", total)


if __name__ == "__main__":
    main()
