"""Answers of Pinocchio for arm7, quad12 and twelve random trees, in the conventions of stiction.

    pip install pin mujoco numpy gmpy2
    STICTION_SHARED=../shared python pinocchio_answers.py        # writes arm7.json, quad12.json, tree01.json ... beside this file

Every answer is held against `precise.py` (300 bits, other formulas, differences); arm7 and quad12 also against MuJoCo and
Pinocchio's own reader of MJCF. The script stops where they differ.
"""
import json
import os
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import gmpy2
import mujoco
import numpy as np
import pinocchio as pin

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import compact
import precise
from conventions import Tree

NV_OF = precise.NV

SHARED = pathlib.Path(os.environ.get("STICTION_SHARED", "../shared"))
VERSIONS = {"pin": pin.__version__, "mujoco": mujoco.__version__, "numpy": np.__version__, "gmpy2": gmpy2.version()}
# Largest difference to the second route, relative to the largest entry of the same answer.
TOLERANCE = 1e-12


def joint(kind, axis=(0, 0, 1), position=(0, 0, 0), orientation=(1, 0, 0, 0), anchor=(0, 0, 0), armature=0.0):
    return {"kind": kind, "axis": list(axis), "position": list(position), "orientation": list(orientation), "anchor": list(anchor), "armature": armature}


# Scenes of the shared folder.


def from_mjcf(path):
    """Bodies of arm7 and quad12, read from the text: inertials on the axes of the body, one joint at the origin each."""
    root = ElementTree.parse(path).getroot()
    numbers = lambda text: [float(n) for n in text.split()]
    bodies = []

    def read(element, parent):
        for child in element.findall("body"):
            inertial, moving, free = child.find("inertial"), child.find("joint"), child.find("freejoint")
            if free is not None:
                j = joint("free")
            else:
                assert moving.get("type") == "hinge"
                j = joint("revolute", numbers(moving.get("axis")), numbers(child.get("pos")), armature=float(moving.get("armature", 0)))
            bodies.append({
                "name": child.get("name"), "parent": parent, "joint": j, "mass": float(inertial.get("mass")),
                "center_of_mass": numbers(inertial.get("pos")), "inertia": numbers(inertial.get("diaginertia")) + [0.0, 0.0, 0.0],
            })
            read(child, child.get("name"))

    read(root.find("worldbody"), None)
    key = root.find("keyframe").find("key")
    home = np.array(numbers(key.get("qpos")))
    speed = np.array(numbers(key.get("qvel"))) if key.get("qvel") else np.zeros(precise.Precise({"gravity": [0, 0, 0], "bodies": bodies}).nv)
    return {"name": path.stem, "gravity": numbers(root.find("option").get("gravity")), "bodies": bodies}, (home, speed)


def against_peers(path, model, states):
    """MuJoCo and Pinocchio's reader of MJCF on the same file."""
    tree, worst = Tree(model), 0.0
    m = mujoco.MjModel.from_xml_path(str(path))
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    m.dof_damping[:] = 0
    d = mujoco.MjData(m)
    read = pin.buildModelFromMJCF(str(path))
    assert (read.nq, read.nv) == (tree.model.nq, tree.model.nv)
    read_data = read.createData()
    for q, v, vdot, tau in states:
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(m, d)
        full = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, full)
        worst = max(worst, relative(full, tree.mass_matrix(q)), relative(d.qfrc_bias, tree.rnea(q, v, 0 * v)), relative(d.qacc, tree.aba(q, v, tau)))
        t, a = tree.t(q), tree.acceleration(q, v, vdot)[0]
        worst = max(worst, relative(t.T @ pin.rnea(read, read_data, tree.q(q), tree.velocity(q, v)[0], a), tree.rnea(q, v, vdot)))
    assert worst < 1e-11, worst
    return worst


# Random trees.


class Random:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def unit(self, n):
        x = self.rng.normal(size=n)
        return x / np.linalg.norm(x)

    def rounded(self, low, high, n=None):
        x = self.rng.uniform(low, high, n)
        return round(float(x), 4) if n is None else [round(float(y), 4) for y in x]

    def joint(self, kind, anchor, armature):
        if kind == "free":
            return joint("free")
        return joint(
            kind,
            axis=self.unit(3) if kind in ("revolute", "prismatic") else (0, 0, 1),
            position=self.rounded(-0.4, 0.4, 3),
            orientation=self.unit(4) if self.rng.uniform() < 0.7 else (1, 0, 0, 0),
            anchor=self.rounded(-0.2, 0.2, 3) if anchor and kind in ("ball", "revolute") else (0, 0, 0),
            armature=self.rounded(0.005, 0.1) if armature and kind != "fixed" and self.rng.uniform() < 0.7 else 0.0,
        )

    def body(self, name, parent, kind, anchor=False, armature=False, massless=False):
        body = {"name": name, "parent": parent, "joint": self.joint(kind, anchor, armature)}
        if massless:
            return body | {"mass": 0.0, "center_of_mass": [0.0] * 3, "inertia": [0.0] * 6}
        mass = self.rounded(0.3, 3)
        # Second moments of a cloud of points: any inertia made so can exist.
        points = self.rng.normal(size=(6, 3)) * self.rng.uniform(0.05, 0.25, 3)
        second = mass * points.T @ points / 6
        i = np.trace(second) * np.eye(3) - second
        inertia = [round(float(x), 7) for x in (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])]
        return body | {"mass": mass, "center_of_mass": self.rounded(-0.2, 0.2, 3), "inertia": inertia}

    def state(self, model):
        tree = Tree(model)
        q, nv = np.zeros(tree.model.nq), tree.model.nv
        for j in tree.model.joints:
            if j.nq in (4, 7):
                q[j.idx_q:j.idx_q + j.nq - 4] = self.rng.uniform(-1, 1, j.nq - 4)
                k = j.idx_q + j.nq - 4
                q[k:k + 4] = self.unit(4)
            elif j.nq == 1:
                q[j.idx_q] = self.rng.uniform(-2, 2) if "Revolute" in j.shortname() else self.rng.uniform(-0.5, 0.5)
        return q, self.rng.uniform(-2, 2, nv), self.rng.uniform(-5, 5, nv), self.rng.uniform(-5, 5, nv)


# name of the tree: seed, options, bodies "name parent kind" depth first ("-": the world; "0" after the kind: no mass).
TREES = {
    "tree01": (1, {}, "fixed base, revolute chain about arbitrary axes",
               "a - revolute, b a revolute, c b revolute, d c revolute, e d revolute, f e revolute"),
    "tree02": (2, {"armature": True}, "fixed base, revolute and prismatic, armature",
               "a - prismatic, b a revolute, c b prismatic, d c revolute, e d revolute"),
    "tree03": (3, {"anchor": True}, "chain of balls about anchors",
               "a - ball, b a ball, c b ball"),
    "tree04": (4, {}, "free root with a chain",
               "a - free, b a revolute, c b prismatic, d c revolute"),
    "tree05": (5, {"armature": True}, "free root with branches of every kind, fixed bodies within",
               "a - free, b a ball, c b fixed, d c revolute, e a fixed, f e prismatic, g f revolute, h a revolute"),
    "tree06": (6, {}, "several trees: two on the world, a lone free body",
               "a - revolute, b a ball, c - free, d - prismatic, e d revolute, f d revolute"),
    "tree07": (7, {"anchor": True, "gravity": [1.5, -2.5, -9.0]}, "a body fixed to the world with a fixed child, two trees on them; gravity askew",
               "a - fixed, b a revolute, c b fixed, d c ball, e a fixed, f e revolute, g f prismatic"),
    "tree08": (8, {}, "bodies without mass between joints at one place",
               "x - prismatic 0, y x prismatic 0, a y revolute, b a revolute 0, c b revolute 0, d c revolute"),
    "tree09": (9, {"anchor": True, "armature": True}, "twelve bodies of every kind on a free root",
               "a - free, b a revolute, c b revolute, d c ball, e b prismatic, f a ball, g f fixed, h g revolute, i a revolute, j i prismatic, k j revolute, l i fixed"),
    "tree10": (10, {"anchor": True, "armature": True}, "twelve bodies of every kind on the world",
               "a - ball, b a revolute, c b prismatic, d c revolute, e b ball, f e fixed, g a revolute, h g revolute, i h revolute, j g prismatic, k j fixed, l k revolute"),
    "tree11": (11, {"gravity": [0.0, 0.0, 0.0]}, "two free roots and a lone free body, no gravity",
               "a - free, b a revolute, c a ball, d - free, e - free, f e prismatic, g f revolute"),
    "tree12": (12, {"anchor": True, "armature": True, "gravity": [0.0, -9.81, 0.0]}, "twelve bodies in a row",
               "a - revolute, b a prismatic, c b revolute, d c revolute, e d fixed, f e revolute, g f ball, h g revolute, i h prismatic, j i revolute, k j revolute, l k revolute"),
}


def random_tree(name):
    seed, options, what, text = TREES[name]
    random = Random(seed)
    bodies = []
    for line in text.split(","):
        body, parent, kind, *massless = line.split()
        bodies.append(random.body(body, None if parent == "-" else parent, kind, options.get("anchor", False), options.get("armature", False), bool(massless)))
    model = {"name": name, "gravity": options.get("gravity", [0.0, 0.0, -9.81]), "bodies": bodies}
    model = json.loads(compact.text_of(model))
    return model, what, [random.state(model) for _ in range(2)]


# Answers.


def relative(a, b):
    a, b = np.array(a, dtype=float), np.array(b, dtype=float)
    size = np.abs(b).max(initial=0.0)
    return float(np.abs(a - b).max(initial=0.0) / (size if size > 0 else 1.0))


def answers(model, state):
    q, v, vdot, tau = state
    tree, exact = Tree(model), precise.Precise(model)
    bodies = sorted({0, len(model["bodies"]) // 2, len(model["bodies"]) - 1})
    mass_matrix = tree.mass_matrix(q)
    rnea_q, rnea_v, rnea_vdot = tree.rnea_derivatives(q, v, vdot)
    aba_q, aba_v, aba_tau = tree.aba_derivatives(q, v, tau)
    com, com_jacobian = tree.center_of_mass(q)
    kinetic, potential = tree.energies(q, v)
    out = {
        "mass_matrix": mass_matrix, "bias": tree.rnea(q, v, 0 * v), "rnea": tree.rnea(q, v, vdot), "aba": tree.aba(q, v, tau),
        "rnea_q": rnea_q, "rnea_v": rnea_v, "aba_q": aba_q, "aba_v": aba_v, "aba_tau": aba_tau,
        "rnea_inertial": tree.regressor(q, v, vdot), "kinetic_energy": kinetic, "potential_energy": potential,
        "center_of_mass": com, "center_of_mass_q": com_jacobian,
    }
    places = []
    for b in bodies:
        (position, rotation), (linear, angular) = tree.place(q, b), tree.jacobian(q, b)
        places.append({"body": model["bodies"][b]["name"], "position": position, "rotation": rotation, "linear": linear, "angular": angular})

    # The second route.
    q, v, vdot, tau = (precise.big(x) for x in state)
    zero = precise.big(np.zeros(exact.nv))
    m = exact.mass_matrix(q)
    acceleration = exact.aba(q, v, tau)
    energies = exact.energies(q, v)
    other = {
        "mass_matrix": m, "bias": exact.rnea(q, v, zero), "rnea": exact.rnea(q, v, vdot), "aba": acceleration,
        "rnea_q": exact.derivative(lambda d: exact.rnea(exact.moved(q, d), v, vdot)),
        "rnea_v": exact.derivative(lambda d: exact.rnea(q, v + d, vdot)),
        "aba_q": exact.derivative(lambda d: exact.aba(exact.moved(q, d), v, tau)),
        "aba_v": exact.derivative(lambda d: exact.aba(q, v + d, tau)),
        "aba_tau": exact.derivative(lambda d: precise.solve(m, d)),
        "rnea_inertial": exact.regressor(q, v, vdot), "kinetic_energy": energies[0], "potential_energy": energies[1],
        "center_of_mass": exact.center_of_mass(q), "center_of_mass_q": exact.derivative(lambda d: exact.center_of_mass(exact.moved(q, d))),
    }
    off = {key: relative(out[key], other[key]) for key in out}
    off["rnea_vdot"] = relative(rnea_vdot, m)
    kinematics = exact.kinematics(q, zero, zero)
    for b, entry in zip(bodies, places):
        linear, angular = exact.jacobian(q, b)
        for key, value in [("position", kinematics[b][1]), ("rotation", kinematics[b][0]), ("linear", linear), ("angular", angular)]:
            off[key] = max(off.get(key, 0.0), relative(entry[key], value))
    for key, value in off.items():
        assert value < TOLERANCE, (model["name"], key, value)
    start = {"q": state[0], "v": state[1], "vdot": state[2], "tau": state[3]}
    return start | out | {"places": places}, max(off.items(), key=lambda item: item[1])


def main():
    total = 0
    for name in ["arm7", "quad12", *TREES]:
        note = {}
        if name in TREES:
            model, what, states = random_tree(name)
        else:
            path = SHARED / "reference/scenes" / f"{name}.xml"
            model, (home, speed) = from_mjcf(path)
            what = f"{name}.xml of the shared scenes; damping, actuators and the floor are left out"
            model = json.loads(compact.text_of(model))
            random = Random(100)
            nv = len(speed)
            states = [(home, speed, random.rng.uniform(-2, 2, nv), random.rng.uniform(-5, 5, nv)), random.state(model)]
            note = {"difference_to_mujoco_and_mjcf_reader": against_peers(path, model, states)}
        computed, worst = zip(*[answers(model, state) for state in states])
        worst = max(worst, key=lambda item: item[1])
        note = {"largest_difference_to_300_bits": worst[1], "of": worst[0]} | note
        size = compact.write(HERE / f"{name}.json", {"what": what, "versions": VERSIONS, "checked": note, "model": model, "states": list(computed)})
        total += size
        print(name, size, note)
    print("bytes", total)


if __name__ == "__main__":
    main()
