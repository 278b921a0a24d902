"""Accelerations of `tendons.xml` in random states, by MuJoCo: `tendons.json`.

    python tendons/answers.py
"""

import json
import pathlib

import mujoco
import numpy as np

folder = pathlib.Path(__file__).parent
model = mujoco.MjModel.from_xml_path(str(folder / "tendons.xml"))
data = mujoco.MjData(model)
random = np.random.default_rng(3)
states = []
for _ in range(12):
    mujoco.mj_resetData(model, data)
    change = 0.6 * random.standard_normal(model.nv)
    mujoco.mj_integratePos(model, data.qpos, change, 1.0)
    data.qvel[:] = 0.8 * random.standard_normal(model.nv)
    data.ctrl[:] = random.standard_normal(model.nu)
    mujoco.mj_forward(model, data)
    states.append({
        "q": data.qpos.tolist(),
        "v": data.qvel.tolist(),
        "controls": data.ctrl.tolist(),
        "vdot": data.qacc.tolist(),
    })
answers = {
    "what": "tendons.xml: accelerations in random states",
    "versions": {"mujoco": mujoco.__version__},
    "states": states,
}
(folder / "tendons.json").write_text(json.dumps(answers) + "\n")
