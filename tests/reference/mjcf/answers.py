"""What MuJoCo makes of the models in tests/import/models: python answers.py > answers.json"""

import json
import pathlib

import mujoco
import numpy as np

MODELS = pathlib.Path(__file__).parents[2] / "import" / "models"


def matrix(quaternion):
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, quaternion)
    return rotation.reshape(3, 3)


def answer(name):
    model = mujoco.MjModel.from_xml_path(str(MODELS / name))
    data = mujoco.MjData(model)
    random = np.random.default_rng(1)
    q = model.qpos0 + 0.3 * random.standard_normal(model.nq)
    mujoco.mj_normalizeQuat(model, q)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    bodies = []
    for i in range(1, model.nbody):
        axes = matrix(model.body_iquat[i])
        inertia = axes @ np.diag(model.body_inertia[i]) @ axes.T
        bodies.append(
            {
                "name": model.body(i).name,
                "position": data.xpos[i].tolist(),
                "orientation": data.xquat[i].tolist(),
                "mass": model.body_mass[i],
                "center_of_mass": model.body_ipos[i].tolist(),
                "inertia": [inertia[a] for a in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]],
            }
        )
    return {"q": q.tolist(), "q0": model.qpos0.tolist(), "bodies": bodies}


names = ["kinds.xml", "classes.xml"]
result = {"mujoco": mujoco.__version__} | {name: answer(name) for name in names}
print(json.dumps(result, indent=1))
