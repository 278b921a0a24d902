"""Rollouts of many scenes by Dask: scenes travel to the workers as pickles, which need no files there.

    python scenes_dask.py scene.toml [scheduler address]
"""

import sys

import numpy as np
import stiction
from dask.distributed import Client


def farthest(scene, starts, steps):
    """How far the first body gets from each start, m."""
    motion = scene.rollout(starts, steps=steps)
    return np.linalg.norm(motion[:, -1, :2] - motion[:, 0, :2], axis=-1)


def main(path, address=None):
    scene = stiction.load(path)
    rng = np.random.default_rng(1)
    batches = []
    for _ in range(100):
        starts = np.repeat(scene.x0[None], 64, axis=0)
        starts[:, scene.nq : scene.nq + 2] += rng.normal(size=(64, 2))
        batches.append(starts)
    # One thread each: a scene uses all cores of its worker by itself.
    with Client(address, threads_per_worker=1) as client:
        remote = client.scatter(scene, broadcast=True)
        futures = [client.submit(farthest, remote, starts, 200) for starts in batches]
        found = np.concatenate(client.gather(futures))
    print(f"{len(found)} rollouts, median {np.median(found):.4f} m, farthest {found.max():.4f} m")


if __name__ == "__main__":
    main(*sys.argv[1:])
