"""Times Pinocchio on arm7 and quad12: compiles time_pinocchio.cpp against the headers of the wheels and runs it.

    pip install pin cmeel-eigen numpy gmpy2 mujoco
    STICTION_SHARED=../shared python time_pinocchio.py [--library] [-march=native ...]     # prints one JSON line an algorithm

Needs g++ (or $CXX) and some minutes: without --library Pinocchio's templates are compiled with -O3 and the flags given, with it
the wheel's own compiled algorithms are linked. Joints are of Pinocchio's fastest types (RX, RY, RZ); nothing is called through
Python. `aba`, `rnea` and their derivatives include the kinematics.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pinocchio as pin

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "dynamics")]
from conventions import Tree
from pinocchio_answers import SHARED, Random, from_mjcf

prefix = next(parent for parent in pathlib.Path(pin.__file__).parents if parent.name == "cmeel.prefix")
include, library = prefix / "include", "--library" in sys.argv
flags = ["-std=c++17", "-O3", "-DNDEBUG", "-w", *(flag for flag in sys.argv[1:] if flag != "--library")]
definitions = ["-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"]
link = ["-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION", f"-L{prefix}/lib", "-lpinocchio_default", f"-Wl,-rpath,{prefix}/lib"] if library else []
with tempfile.TemporaryDirectory() as folder:
    program = pathlib.Path(folder) / "time_pinocchio"
    command = [os.environ.get("CXX", "g++"), *flags, *definitions, f"-isystem{include}", f"-isystem{include}/eigen3", str(HERE / "time_pinocchio.cpp"), "-o", str(program), *link]
    subprocess.run(command, check=True)
    for scene in ("arm7", "quad12"):
        model, (q, _) = from_mjcf(SHARED / "reference/scenes" / f"{scene}.xml")
        tree, names, lines = Tree(model), [], []
        for body in model["bodies"]:
            joint = body["joint"]
            kind = "free" if joint["kind"] == "free" else "xyz"[int(np.argmax(joint["axis"]))]
            parent = 0 if body["parent"] is None else 1 + names.index(body["parent"])
            names.append(body["name"])
            lines.append([kind, parent, *joint["position"], body["mass"], *body["center_of_mass"], *body["inertia"], joint["armature"]])
        random = Random(1)
        v, a, tau = (random.rng.uniform(-1, 1, tree.model.nv) for _ in range(3))
        q = tree.q(q)
        expected = pin.aba(tree.model, tree.model.createData(), q, v, tau)
        text = "\n".join(" ".join(map(str, line)) for line in [[scene, len(lines)], *lines, [len(q), len(v)], q, v, a, tau, expected])
        subprocess.run([str(program)], input=text, text=True, check=True)
print(json.dumps({"pin": pin.__version__, "flags": flags, "library": library}))
