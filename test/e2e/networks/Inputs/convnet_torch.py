"""convnet_torch.py [SEED [DTYPE]]: prints the losses and norms of gradients of docs/examples/convnet in PyTorch.

    python convnet_torch.py > convnet.json      # PyTorch 2.15.0 made what is stored, in f64
    python convnet_torch.py 4 float32           # another setting, in f32

Written from the definitions, with what PyTorch ships: conv2d, batch_norm, max_pool2d, Adam.
"""

import json
import math
import sys

import setting
import torch
import torch.nn.functional as F
from batch_norm_torch import BatchNorms

SEED, DTYPE = int((sys.argv + ["0"])[1]), getattr(torch, (sys.argv[2:] + ["float64"])[0])
torch.set_default_dtype(DTYPE)
STAGES = [("first", 1, 16), ("second", 16, 32), ("third", 32, 64)]

shapes = {"net.last.w": (256, 10), "net.last.b": (10,)}
for name, channels, features in STAGES:
    shapes[f"net.{name}.conv.w"] = (3, 3, channels, features)
    shapes[f"net.{name}.norm.scale"] = shapes[f"net.{name}.norm.shift"] = (features,)
weights = {
    name: torch.tensor(value, dtype=DTYPE, requires_grad=True)
    for name, value in setting.initial_weights(shapes, SEED).items()
}
norm = BatchNorms(weights, {name: features for name, _, features in STAGES}, epsilon=1e-3)


def scores(pixels, train):
    x = (pixels / 16).reshape(-1, 1, 8, 8)
    for name, _, _ in STAGES:
        kernel = weights[f"net.{name}.conv.w"].permute(3, 2, 0, 1)
        x = F.relu(norm(F.conv2d(x, kernel, padding="same"), name, train))
        x = x if name == "first" else F.max_pool2d(x, 2)
    rows = x.permute(0, 2, 3, 1).flatten(1)
    return F.linear(rows, weights["net.last.w"].T, weights["net.last.b"])


def train():
    optimizer = torch.optim.Adam(weights.values(), eps=1e-8)
    results = {"loss": [], "running": [], "norm": []}
    for step, feeds in enumerate(setting.batches("convnet", SEED)):
        x = torch.tensor(feeds["x"], dtype=DTYPE)
        label = torch.tensor(feeds["label"], dtype=torch.long)
        optimizer.param_groups[0]["lr"] = 3e-3 * (1 + math.cos(math.pi * step / setting.STEPS)) / 2
        optimizer.zero_grad()
        with torch.no_grad():
            results["running"].append(F.cross_entropy(scores(x, train=False), label).item())
        loss = F.cross_entropy(scores(x, train=True), label)
        loss.backward()
        results["loss"].append(loss.item())
        norms = [w.grad.norm() for w in weights.values()]
        results["norm"].append(torch.stack(norms).norm().item())
        optimizer.step()
    return results


print(json.dumps({k: [round(x, 9) for x in v] for k, v in train().items()}, indent=1))
