"""Many environments of a model at once, beside mujoco.rollout: CPU time of both, in turn, on as many threads.

    pip install mujoco stiction            # stiction: of this repository
    python robots/batch_rollouts.py ur5e.xml hopper.xml --environments 1000 --steps 100

Prints a line a model: the CPU time of a step of one environment (us, least of three runs), and the ratio. Environments start near each other,
at random, at rest but for `--speed`. Contact of MuJoCo is soft and its tolerance that of the file; ours is exact, to the 1e-10 of the scene.
"""
import argparse
import pathlib
import time
import warnings

import mujoco
import mujoco.rollout
import numpy as np
import stiction


def cpu_time(function):
    """Of all threads, s; the least of three."""
    taken = []
    for _ in range(3):
        begun = time.process_time()
        function()
        taken.append(time.process_time() - begun)
    return min(taken)


def compared(path, count, steps, threads, speed):
    model = mujoco.MjModel.from_xml_path(str(path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scene = stiction.load(str(path))
    data = mujoco.MjData(model)
    random = np.random.default_rng(0)
    starts = np.empty((count, model.nq + model.nv))
    for start in starts:
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, 0.01 * random.normal(size=model.nv), 1.0)
        data.qvel[0] = speed
        start[:] = np.concatenate([data.qpos, data.qvel])
    inputs = np.zeros((count, steps, scene.nu))
    # Time first; what comes after the velocities (activations, controls of plugins) is nothing.
    states = np.concatenate([np.zeros((count, 1)), starts, np.zeros((count, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS) - 1 - starts.shape[1]))], axis=1)
    scratch = [mujoco.MjData(model) for _ in range(threads)]
    with mujoco.rollout.Rollout(nthread=threads) as roll:
        theirs = cpu_time(lambda: roll.rollout(model, scratch, states, nstep=steps))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = cpu_time(lambda: scene.rollout(starts, inputs, threads=threads))
    return ours / (count * steps), theirs / (count * steps)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=pathlib.Path, nargs="+")
    parser.add_argument("--environments", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--speed", type=float, default=0.0, help="the first velocity at the start")
    arguments = parser.parse_args()
    print(f"{'ours':>8} {'MuJoCo':>8} {'ratio':>6}  model (us a step, MuJoCo {mujoco.__version__})")
    for path in arguments.models:
        ours, theirs = compared(path, arguments.environments, arguments.steps, arguments.threads, arguments.speed)
        print(f"{1e6 * ours:8.2f} {1e6 * theirs:8.2f} {ours / theirs:6.2f}  {path.name}", flush=True)


if __name__ == "__main__":
    main()
