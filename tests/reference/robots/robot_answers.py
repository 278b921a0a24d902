"""Robots of the pip packages gymnasium (MJCF, answers of MuJoCo) and example-robot-data (URDF, answers of Pinocchio).

    python robot_answers.py [name ...]        # writes a JSON a robot beside this file

The start is the model's own, moved by a small random tangent vector; the speed is random. Each answer is made a second time:
those of MuJoCo by Pinocchio on the compiled model, those of Pinocchio in 300 bits and against its own reader of URDF.
"""
import hashlib
import importlib.metadata
import json
import math
import pathlib
import sys
import xml.etree.ElementTree as ElementTree
import zlib

import gymnasium
import mujoco
import numpy as np
import pinocchio as pin

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "dynamics"), str(HERE.parent / "smooth")]
import compact
import precise
from conventions import Tree, symmetric
from mujoco_answers import INTEGRATORS, Forces
from pinocchio_answers import joint, relative

VERSIONS = {name: importlib.metadata.version(name) for name in ("mujoco", "gymnasium", "pin", "example-robot-data", "numpy")}
MJCF = pathlib.Path(gymnasium.__file__).parent / "envs/mujoco/assets"
URDF = pathlib.Path(pin.__file__).parents[4] / "share/example-robot-data/robots"
STEPS, KEPT = 20, (0, 1, 2, 5, 10, 15, 20)
TOLERANCE = 1e-10


def random_of(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def rows(matrix):
    """The lower triangle."""
    return [row[:i + 1] for i, row in enumerate(matrix)]


def source(package, path, base):
    return {"package": package, "file": str(path.relative_to(base)), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


# MJCF.


def kind_of(m, index):
    name = mujoco.mjtJoint(m.jnt_type[index]).name.removeprefix("mjJNT_").lower()
    return {"hinge": "revolute", "slide": "prismatic"}.get(name, name)


def of_compiled(m):
    """Bodies of a compiled model; several joints in one body are a chain without mass. q of a joint counts from its reference."""
    bodies, last = [], {0: None}
    for b in range(1, m.nbody):
        parent, place = last[m.body_parentid[b]], (m.body_pos[b], m.body_quat[b])
        count = max(1, m.body_jntnum[b])
        for k in range(count):
            index = m.body_jntadr[b] + k
            if not m.body_jntnum[b]:
                j = joint("fixed", position=place[0], orientation=place[1])
            elif kind_of(m, index) == "free":
                assert m.dof_damping[m.jnt_dofadr[index]] == 0 and m.dof_armature[m.jnt_dofadr[index]] == 0
                j = joint("free")
            else:
                kind = kind_of(m, index)
                dof, adr = m.jnt_dofadr[index], m.jnt_qposadr[index]
                j = joint(kind, m.jnt_axis[index], *place, anchor=m.jnt_pos[index], armature=m.dof_armature[dof])
                j |= {"damping": m.dof_damping[dof], "stiffness": m.jnt_stiffness[index]}
                if kind != "ball":
                    j["rest"] = m.qpos_spring[adr] - m.qpos0[adr]
            name, final = f"{b}.{k}", k == count - 1
            axes = np.zeros(9)
            mujoco.mju_quat2Mat(axes, m.body_iquat[b])
            axes = axes.reshape(3, 3)
            i = axes @ np.diag(m.body_inertia[b]) @ axes.T
            bodies.append({
                "name": name, "parent": parent, "joint": j, "mass": m.body_mass[b] if final else 0.0, "center_of_mass": m.body_ipos[b] if final else [0.0] * 3,
                "inertia": [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]] if final else [0.0] * 6,
            })
            parent, place, last[b] = name, ([0.0] * 3, [1.0, 0.0, 0.0, 0.0]), name
    actuators = []
    for a in range(m.nu):
        assert m.actuator_trntype[a] == mujoco.mjtTrn.mjTRN_JOINT and m.actuator_gainprm[a, 0] == 1 and m.actuator_biastype[a] == mujoco.mjtBias.mjBIAS_NONE
        actuators.append({"kind": "motor", "v": m.jnt_dofadr[m.actuator_trnid[a, 0]], "gear": m.actuator_gear[a, 0], "kp": 0.0, "kd": 0.0})
    return {"name": "", "gravity": m.opt.gravity, "bodies": bodies, "actuators": actuators}


def of_mjcf(path, name):
    m, notes, modified = mujoco.MjModel.from_xml_path(str(path)), [], {}
    text = path.read_text()
    disabled = {"contact": mujoco.mjtDisableBit.mjDSBL_CONTACT, "limit": mujoco.mjtDisableBit.mjDSBL_LIMIT,
                "frictionloss": mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS, "equality": mujoco.mjtDisableBit.mjDSBL_EQUALITY}
    for bit in disabled.values():
        m.opt.disableflags |= bit
    if m.opt.density or m.opt.viscosity:
        modified = {"density": 0, "viscosity": 0}
        notes.append(f"the file has a fluid (density {m.opt.density}, viscosity {m.opt.viscosity}): set to 0 here")
        m.opt.density = m.opt.viscosity = 0
    if m.ntendon:
        assert not m.tendon_stiffness.any() and not m.tendon_damping.any() and not m.tendon_armature.any() and not m.tendon_limited.any()
        notes.append(f"{m.ntendon} tendons without stiffness, damping, armature and limits: no influence")
    if "settotalmass" in text:
        notes.append("compiler settotalmass scales masses, inertias")
    if m.nkey:
        assert all(np.array_equal(m.key_qpos[k], m.qpos0) and not m.key_qvel[k].any() for k in range(m.nkey))
        notes.append(f"{m.nkey} empty keyframes by size nkey: the same as the model's start")
    integrator = mujoco.mjtIntegrator(m.opt.integrator).name.removeprefix("mjINT_")
    integrator = {key.lower(): key for key in INTEGRATORS}[integrator.lower()]

    random = random_of(name)
    q, v = m.qpos0.copy(), random.uniform(-0.5, 0.5, m.nv)
    mujoco.mj_integratePos(m, q, random.uniform(-0.1, 0.1, m.nv), 1.0)
    limited = m.actuator_ctrllimited.astype(bool)
    low, high = np.where(limited, m.actuator_ctrlrange[:, 0], -1), np.where(limited, m.actuator_ctrlrange[:, 1], 1)
    controls = np.round(random.uniform(low / 4, high / 4), 3)

    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.ctrl[:] = q, v, controls
    mujoco.mj_forward(m, d)
    full = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, full)
    answers = {"mass_matrix": rows(full), "bias": d.qfrc_bias.copy(), "passive": d.qfrc_passive.copy(), "actuators": d.qfrc_actuator.copy(), "acceleration": d.qacc.copy()}

    # The second route; q from the reference.
    shift = np.zeros(m.nq)
    joints = []
    for j in range(m.njnt):
        kind = kind_of(m, j)
        entry = {"name": m.joint(j).name, "body": m.body(m.jnt_bodyid[j]).name, "kind": kind,
                 "q": int(m.jnt_qposadr[j]), "v": int(m.jnt_dofadr[j])}
        if kind in ("revolute", "prismatic") and m.qpos0[m.jnt_qposadr[j]]:
            shift[m.jnt_qposadr[j]] = entry["reference"] = m.qpos0[m.jnt_qposadr[j]]
        joints.append(entry)
    if shift.any():
        notes.append("joints with a reference: the body is where the file says at q = reference, not 0")
    model = of_compiled(m)
    forces, zero = Forces(model), np.zeros(m.nv)
    off = max(relative(forces.tree.mass_matrix(q - shift), full), relative(forces.tree.rnea(q - shift, v, zero), d.qfrc_bias))
    steps, (own_q, own_v) = [], (q - shift, v)
    for k in range(STEPS + 1):
        if k in KEPT:
            steps.append({"step": k, "q": d.qpos.copy(), "v": d.qvel.copy()})
        if k < STEPS:
            mujoco.mj_step(m, d)
            own_q, own_v = forces.step(own_q, own_v, m.opt.timestep, controls, zero, integrator)
            off = max(off, relative(own_q + shift, d.qpos), relative(own_v, d.qvel))
    assert not d.nefc
    inertials = [{"name": m.body(b).name, "mass": m.body_mass[b], "center_of_mass": m.body_ipos[b],
                  "inertia": [x for x in next(body for body in reversed(model["bodies"]) if body["name"].startswith(f"{b}."))["inertia"]]} for b in range(1, m.nbody)]
    return {
        "what": "MJCF, answers of MuJoCo", **source("gymnasium", path, MJCF.parents[3]), "versions": VERSIONS, "checked": {"largest_difference_to_second_route": off},
        "notes": notes, "disabled_flags": list(disabled), "modified_options": modified, "gravity": m.opt.gravity, "integrator": integrator, "time_step": m.opt.timestep,
        "joints": joints, "inertials": inertials, "controls": controls, "q": q, "v": v, **answers, "steps": steps,
    }, off


# URDF.


def numbers(text, default):
    return np.array([float(n) for n in text.split()]) if text else np.array(default, dtype=float)


def place_of(element):
    """Position and quaternion of an <origin>: roll, pitch, yaw about fixed axes x, y, z."""
    origin = None if element is None else element.find("origin")
    if origin is None:
        return np.zeros(3), np.array([1.0, 0, 0, 0])
    half = numbers(origin.get("rpy"), [0, 0, 0]) / 2
    (cr, cp, cy), (sr, sp, sy) = np.cos(half), np.sin(half)
    quaternion = [cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy]
    return numbers(origin.get("xyz"), [0, 0, 0]), np.array(quaternion)


def of_text(path):
    """Bodies of a URDF on a fixed base, depth first, children in the order of the file's joints; and what else it says."""
    root = ElementTree.parse(path).getroot()
    links, joints = {link.get("name"): link for link in root.findall("link")}, root.findall("joint")
    children = {j.find("child").get("link") for j in joints}
    start, = [name for name in links if name not in children]
    bodies, moving, notes = [], [], {"mimic": [], "damping": []}

    def read(name, parent, element):
        j = joint("fixed")
        if element is not None:
            position, orientation = place_of(element)
            kind = {"fixed": "fixed", "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"}[element.get("type")]
            axis = numbers(None if element.find("axis") is None else element.find("axis").get("xyz"), [1, 0, 0])
            j = joint(kind, axis / np.linalg.norm(axis) if kind != "fixed" else (0, 0, 1), position, orientation)
            if kind != "fixed":
                limit = element.find("limit")
                lower, upper = (-math.inf, math.inf) if element.get("type") == "continuous" else (float(limit.get("lower", 0)), float(limit.get("upper", 0)))
                moving.append({"name": element.get("name"), "body": name, "kind": kind, "lower": lower, "upper": upper})
                dynamics = element.find("dynamics")
                if dynamics is not None and (float(dynamics.get("damping", 0)) or float(dynamics.get("friction", 0))):
                    notes["damping"].append(element.get("name"))
                if element.find("mimic") is not None:
                    notes["mimic"].append(element.get("name"))
        inertial, mass, center, inertia = links[name].find("inertial"), 0.0, np.zeros(3), np.zeros((3, 3))
        if inertial is not None:
            mass = float(inertial.find("mass").get("value"))
            center, turn = place_of(inertial)
            i = inertial.find("inertia")
            r = pin.Quaternion(*turn).toRotationMatrix()
            inertia = r @ symmetric([float(i.get(key, 0)) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")]) @ r.T
        i = inertia
        bodies.append({"name": name, "parent": parent, "joint": j, "mass": mass, "center_of_mass": center, "inertia": [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]})
        for element in joints:
            if element.find("parent").get("link") == name:
                read(element.find("child").get("link"), name, element)

    read(start, None, None)
    assert len(bodies) == len(links)
    return {"name": path.stem, "gravity": [0.0, 0.0, -9.81], "bodies": bodies}, moving, notes


def by_reader(path, moving, q, v):
    """Mass matrix and bias by Pinocchio's reader of URDF, in our order of joints."""
    model = pin.buildModelFromUrdf(str(path))
    data, own, at = model.createData(), np.zeros(model.nv), pin.neutral(model)
    order = []
    for j, x, rate in zip(moving, q, v):
        other = model.joints[model.getJointId(j["name"])]
        order.append(other.idx_v)
        own[other.idx_v] = rate
        at[other.idx_q:other.idx_q + other.nq] = [x] if other.nq == 1 else [np.cos(x), np.sin(x)]
    assert len(order) == model.nv
    m = pin.crba(model, data, at)
    m = np.triu(m) + np.triu(m, 1).T
    return m[np.ix_(order, order)], pin.nonLinearEffects(model, data, at, own)[order]


def possible(body):
    """Principal moments not negative, none above the sum of the others, but for the file's digits."""
    i = np.linalg.eigvalsh(symmetric(body["inertia"]))
    return i[0] >= -1e-15 and i[2] <= (i[0] + i[1]) * (1 + 1e-6) + 1e-15 and (body["mass"] > 0 or not i.any()) and body["mass"] >= 0


def of_urdf(path, name, dt=0.001):
    model, moving, found = of_text(path)
    model = json.loads(compact.text_of(model))
    tree, exact, random = Tree(model), precise.Precise(model), random_of(name)
    nv, notes = len(moving), []
    q, v = np.zeros(nv), random.uniform(-0.5, 0.5, nv)
    for k, j in enumerate(moving):
        # Near 0, within the limits.
        reach = min(0.05, (j["upper"] - j["lower"]) / 4)
        shift = random.uniform(-0.1, 0.1)
        q[k] = min(max(shift, j["lower"] + reach), j["upper"] - reach) if j["upper"] > j["lower"] else shift
    zero = np.zeros(nv)
    mass_matrix, bias = tree.mass_matrix(q), tree.rnea(q, v, zero)
    read_m, read_bias = by_reader(path, moving, q, v)
    big_q, big_v, big_zero = precise.big(q), precise.big(v), precise.big(zero)
    m = exact.mass_matrix(big_q)
    off = {"mass_matrix": relative(mass_matrix, m), "bias": relative(bias, exact.rnea(big_q, big_v, big_zero)),
           "reader": max(relative(read_m, mass_matrix), relative(read_bias, bias))}
    if found["mimic"]:
        notes.append("mimic joints move on their own here")
    if found["damping"]:
        notes.append("damping and friction of joints are left out here")
    odd = [body["name"] for body in model["bodies"] if not possible(body)]
    if odd:
        notes.append("links with an inertia that no body has are taken as they are")
    steps, acceleration, condition = None, None, float(np.linalg.cond(mass_matrix))
    if condition > 1e12:
        values, vectors = np.linalg.eigh(mass_matrix)
        idle = np.abs(vectors[:, values < 1e-12 * values[-1]]).max(axis=1) > 1e-6
        notes.append(f"the mass matrix is singular, no steps; joints that together move no mass: {', '.join(j['name'] for k, j in enumerate(moving) if idle[k])}")
    else:
        acceleration = tree.aba(q, v, zero)
        off["acceleration"] = relative(acceleration, exact.aba(big_q, big_v, big_zero))
        steps, (x, u), (x2, u2), off["steps"] = [], (q, v), (q, v), 0.0
        for k in range(STEPS + 1):
            if k in KEPT:
                steps.append({"step": k, "q": x, "v": u})
            u = u + dt * tree.aba(x, u, zero)
            x = x + dt * u
            u2 = u2 - dt * np.linalg.solve(tree.mass_matrix(x2), tree.rnea(x2, u2, zero))
            x2 = x2 + dt * u2
            if k < STEPS:
                off["steps"] = max(off["steps"], relative(x, x2), relative(u, u2))
    joints = [{"name": j["name"], "body": j["body"], "kind": j["kind"], "q": k, "v": k} for k, j in enumerate(moving)]
    return {
        "what": "URDF, answers of Pinocchio; no damping, friction, limits, armature", **source("example-robot-data", path, URDF.parent), "versions": VERSIONS, "checked": off,
        "notes": notes, "gravity": model["gravity"], "integrator": "v+ = v + dt aba(q, v, 0), q+ = q + dt v+", "time_step": dt, "condition": condition if condition < 1e12 else None, "mimic": found["mimic"], "damped": found["damping"], "impossible_inertia": odd,
        "base": model["bodies"][0]["name"],
        "total_mass": sum(body["mass"] for body in model["bodies"]), "joints": joints, "q": q, "v": v, "mass_matrix": rows(mass_matrix), "bias": bias,
        "acceleration": acceleration, "steps": steps,
    }, max(off.values())


def main():
    total, wanted = 0, sys.argv[1:]
    robots = {f"gymnasium-{path.stem}": (of_mjcf, path) for path in sorted(MJCF.glob("*.xml"))}
    for path in sorted(URDF.rglob("*.urdf")):
        folder = path.relative_to(URDF).parts[0].removesuffix("_description").removesuffix("_data")
        robots[f"{folder}-{path.stem}"] = (of_urdf, path)
    for name, (make, path) in robots.items():
        if (wanted and name not in wanted) or (not wanted and name in LEFT_OUT):
            continue
        answers, worst = make(path, name)
        size = compact.write(HERE / f"{name}.json", answers, lines=2)
        total += size
        print(name, size, f"{worst:.1e}", "; ".join(answers["notes"])[:150], flush=True)
        if worst > TOLERANCE:
            sys.exit(f"{name} differs: {answers['checked']}")
    print("bytes", total)


# No robot to move, not a URDF, or another in all but shapes.
LEFT_OUT = {
    "hector-quadrotor_base", "iris-iris_simple", "ur-ur3",
}

if __name__ == "__main__":
    main()
