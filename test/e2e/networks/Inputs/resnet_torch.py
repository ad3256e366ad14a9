"""resnet_torch.py: prints the losses and norms of gradients of ../resnet.graph in PyTorch, in f64.

    python resnet_torch.py > resnet.json      # PyTorch 2.15.0 made what is stored
"""

import json

import setting
import torch
import torch.nn.functional as F
from batch_norm_torch import BatchNorms

torch.set_default_dtype(torch.float64)

# Name, size, channels of a group, features.
UNITS = [
    ("stem", 5, 3, 8),
    ("blocks.0.first", 3, 8, 8),
    ("blocks.0.second", 3, 8, 8),
    ("blocks.1.first", 3, 8, 16),
    ("blocks.1.second", 3, 16, 16),
    ("blocks.1.shortcut", 1, 4, 16),
    ("blocks.2.up", 1, 16, 24),
    ("blocks.2.each", 3, 1, 24),
    ("blocks.2.down", 1, 24, 16),
]

shapes = {"net.last.w": (16, 4), "net.last.b": (4,)}
for name, size, channels, features in UNITS:
    shapes[f"net.{name}.w"] = (size, size, channels, features)
    shapes[f"net.{name}.norm.scale"] = shapes[f"net.{name}.norm.shift"] = (features,)
weights = {
    name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
    for name, value in setting.initial_weights(shapes).items()
}
norm = BatchNorms(weights, {name: features for name, _, _, features in UNITS}, epsilon=1e-5)


def unit(x, name, train, stride=1, groups=1):
    kernel = weights[f"net.{name}.w"].permute(3, 2, 0, 1)
    x = F.conv2d(x, kernel, stride=stride, padding=kernel.shape[-1] // 2, groups=groups)
    return norm(x, name, train)


def scores(images, train):
    x = F.relu(unit(images.permute(0, 3, 1, 2), "stem", train, stride=2))
    x = F.max_pool2d(x, 3, stride=2, padding=1)
    y = F.relu(unit(x, "blocks.0.first", train))
    x = F.relu(x + unit(y, "blocks.0.second", train))
    y = F.relu(unit(x, "blocks.1.first", train, stride=2))
    y = unit(y, "blocks.1.second", train)
    x = F.relu(unit(x, "blocks.1.shortcut", train, stride=2, groups=2) + y)
    y = F.relu6(unit(x, "blocks.2.up", train))
    y = F.relu6(unit(y, "blocks.2.each", train, groups=24))
    x = x + unit(y, "blocks.2.down", train)
    return F.linear(x.mean((2, 3)), weights["net.last.w"].T, weights["net.last.b"])


def train():
    optimizer = torch.optim.SGD(weights.values(), lr=0.02, momentum=0.9, nesterov=True)
    results = {"loss": [], "running": [], "norm": []}
    for feeds in setting.batches("resnet"):
        x = torch.tensor(feeds["x"], dtype=torch.float64)
        label = torch.tensor(feeds["label"], dtype=torch.long)
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
