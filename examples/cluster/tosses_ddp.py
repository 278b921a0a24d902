"""A network trained through the simulation on several processes, by PyTorch's DistributedDataParallel.

    torchrun --nproc_per_node 2 tosses_ddp.py scene.toml

The network maps a target to the start velocity of the first body, and learns from how far the simulated body ends from it. Each
process has its own targets; gradients are averaged, and go through `stiction.torch`.
"""

import sys

import stiction
import torch
import torch.distributed as dist
from stiction.torch import rollout
from torch.nn.parallel import DistributedDataParallel


def main(path, updates=200, batch=32, steps=60):
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    scene = stiction.load(path)
    net = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 3)).double()
    net = DistributedDataParallel(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    start = torch.as_tensor(scene.x0)
    random = torch.Generator().manual_seed(dist.get_rank())
    for update in range(updates):
        targets = torch.rand(batch, 2, generator=random, dtype=torch.float64)
        x = start.repeat(batch, 1)
        x = torch.cat([x[:, : scene.nq], net(targets), x[:, scene.nq + 3 :]], dim=1)
        end = rollout(scene, x, torch.zeros(steps, scene.nu, dtype=torch.float64))[:, -1, :2]
        loss = ((end - targets) ** 2).sum(dim=1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 0 and update % 20 == 0:
            print(f"{update:4d}  mean miss {loss.item() ** 0.5:.4f} m")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
