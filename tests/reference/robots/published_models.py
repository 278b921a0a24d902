"""Every MJCF of dm_control, gymnasium-robotics, robosuite and pybullet that moves, beside MuJoCo.

    pip install --no-deps --target MODELS dm_control==1.0.50 gymnasium-robotics==1.4.2 robosuite==1.5.2 pybullet==3.2.7
    pip install mujoco stiction            # stiction: of this repository
    python robots/published_models.py MODELS --program target/release/stiction

Prints a line a model: how far mass matrix and bias at three random states differ from MuJoCo's, relative to their largest
entries; how far 20 steps from a random state without contacts, limits, dry friction and closed loops do; what 2 s of `stiction
simulate` end with, in what time, and how many things the file says are named as not followed.
Models that MuJoCo itself does not load alone (parts of others) are passed over.
"""
import argparse
import json
import pathlib
import subprocess
import time
import warnings

import mujoco
import numpy as np
import stiction

PACKAGES = ["dm_control", "gymnasium_robotics", "robosuite", "pybullet_data"]
PATIENCE = 60  # s


def models(folder):
    """The files that MuJoCo loads and in which something moves."""
    for package in PACKAGES:
        for path in sorted((folder / package).rglob("*.xml")):
            try:
                model = mujoco.MjModel.from_xml_path(str(path))
            except ValueError:
                continue
            if model.nv > 0:
                yield path, model


def shared(scene, model, path):
    """Which numbers of x MuJoCo has too: mocap bodies, which are led here, are no part of its state."""
    led = {model.body(k).name for k in range(model.nbody) if model.body_mocapid[k] >= 0}
    own = [k for k, name in enumerate(scene.state_names) if name.rsplit("/", 1)[0] not in led]
    places, velocities = [k for k in own if k < scene.nq], [k - scene.nq for k in own if k >= scene.nq]
    assert (len(places), len(velocities)) == (model.nq, model.nv), path
    return own, np.array(velocities)


def difference(path, model, random):
    """The largest relative difference of mass matrix and bias from MuJoCo's, and how many warnings the scene has."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        scene = stiction.load(str(path))
    own, velocities = shared(scene, model, path)
    state = scene.x0
    data, worst = mujoco.MjData(model), 0.0
    for _ in range(3):
        data.qpos[:] = model.qpos0
        mujoco.mj_integratePos(model, data.qpos, 0.5 * random.normal(size=model.nv), 1.0)
        data.qvel[:] = random.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        mass = np.zeros((model.nv, model.nv))
        for k in range(model.nv):
            mujoco.mj_mulM(model, data, mass[k], np.eye(model.nv)[k])
        state[own] = np.concatenate([data.qpos, data.qvel])
        block = np.ix_(velocities, velocities)
        for found, other in [(scene.mass_matrix(state)[block], mass), (scene.bias(state)[velocities], data.qfrc_bias)]:
            worst = max(worst, np.abs(found - other).max() / max(np.abs(other).max(), 1e-9))
    return worst, len(said)


FREE = "<mujoco><include file='{}'/><option><flag {}/></option></mujoco>"


def motion(path, model, random):
    """How far 20 steps without anything that is solved for are from MuJoCo's, relative to the largest number of the state."""
    free = path.with_name(f"stiction-free-{path.name}")
    flags = " ".join(f"{flag}='disable'" for flag in ["contact", "limit", "frictionloss", "equality"])
    free.write_text(FREE.format(path.name, flags))
    try:
        theirs = mujoco.MjModel.from_xml_path(str(free))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scene = stiction.load(str(free))
    except (ValueError, stiction.Error):
        return float("nan")
    finally:
        free.unlink()
    data = mujoco.MjData(theirs)
    mujoco.mj_integratePos(model, data.qpos, 0.1 * random.normal(size=model.nv), 1.0)
    data.qvel[:] = random.normal(size=model.nv)
    own, _ = shared(scene, theirs, path)
    x = scene.x0
    x[own] = np.concatenate([data.qpos, data.qvel])
    controls = np.zeros(scene.nu)
    for _ in range(20):
        mujoco.mj_step(theirs, data)
        x = scene.step(x, controls)
    other = np.concatenate([data.qpos, data.qvel])
    return np.abs(x[own] - other).max() / np.abs(other).max()


def rollout(program, path, model):
    """How 2 s of simulation end, and the time they take."""
    steps = max(1, round(2 / model.opt.timestep))
    begun = time.time()
    try:
        command = [program, "simulate", str(path), "--steps", str(steps), "--json"]
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return f"not done in {PATIENCE} s", PATIENCE
    taken = time.time() - begun
    try:
        solver = json.loads(done.stdout)["solver"]
    except ValueError:
        return done.stderr.decode().strip().splitlines()[-1], taken
    if done.returncode == 3:
        return "not plausible", taken
    return f"{solver['unsolved']} unsolved" if solver["unsolved"] else "solved", taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=pathlib.Path, metavar="MODELS")
    parser.add_argument("--program", default="stiction")
    arguments = parser.parse_args()
    random, ends, worst, moved = np.random.default_rng(0), [], [], []
    for path, model in models(arguments.models):
        far, said = difference(path, model, random)
        moved.append(motion(path, model, random))
        end, taken = rollout(arguments.program, path, model)
        ends.append(end)
        worst.append(far)
        print(f"{far:8.1e}  {moved[-1]:8.1e}  {end:16}  {taken:6.2f} s  {said:3} warnings  {path.relative_to(arguments.models)}", flush=True)
    solved = ends.count("solved")
    print(f"{len(ends)} models, {solved} simulate 2 s solved; mass matrix and bias within {max(worst):.1e} of MuJoCo "
          f"{mujoco.__version__}, {sum(far < 1e-13 for far in worst)} within 1e-13; 20 free steps of {sum(far < 1e-9 for far in moved)} within 1e-9")


if __name__ == "__main__":
    main()
