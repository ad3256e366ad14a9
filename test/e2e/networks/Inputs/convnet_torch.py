"""convnet_torch.py: prints the losses and norms of gradients of docs/examples/convnet in PyTorch, in f64.

    python convnet_torch.py > convnet.json      # PyTorch 2.15.0 made what is stored

Written from the definitions, with what PyTorch ships: conv2d, batch_norm, max_pool2d, Adam. Its running variance
is that of a sample, n - 1 in the denominator, so the running averages are kept here.
"""

import json
import math

import setting
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
STAGES = [("first", 1, 16), ("second", 16, 32), ("third", 32, 64)]
MOMENTUM, EPSILON = 0.9, 1e-3

shapes = {"net.last.w": (256, 10), "net.last.b": (10,)}
for name, channels, features in STAGES:
    shapes[f"net.{name}.conv.w"] = (3, 3, channels, features)
    shapes[f"net.{name}.norm.scale"] = shapes[f"net.{name}.norm.shift"] = (features,)
weights = {
    name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
    for name, value in setting.initial_weights(shapes).items()
}
average = {name: torch.zeros(features) for name, _, features in STAGES}
variance = {name: torch.ones(features) for name, _, features in STAGES}


def norm(x, name, train):
    scale, shift = weights[f"net.{name}.norm.scale"], weights[f"net.{name}.norm.shift"]
    if not train:
        return F.batch_norm(x, average[name], variance[name], scale, shift, eps=EPSILON)
    with torch.no_grad():
        for kept, value in (average, x.mean((0, 2, 3))), (
            variance,
            x.var((0, 2, 3), unbiased=False),
        ):
            kept[name] = MOMENTUM * kept[name] + (1 - MOMENTUM) * value
    return F.batch_norm(x, None, None, scale, shift, training=True, eps=EPSILON)


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
    for step, feeds in enumerate(setting.batches("convnet")):
        x = torch.tensor(feeds["x"], dtype=torch.float64)
        label = torch.tensor(feeds["label"], dtype=torch.long)
        optimizer.param_groups[0]["lr"] = 1e-3 * (1 + math.cos(math.pi * step / setting.STEPS)) / 2
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


print(json.dumps({k: [round(x, 7) for x in v] for k, v in train().items()}, indent=1))
