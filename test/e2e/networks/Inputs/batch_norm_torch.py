"""Batch normalisation in PyTorch with running averages of the variance as tfc has it: of the batch.

PyTorch's own is that of a sample, n - 1 in the denominator, so the averages are kept here.
"""

import torch
import torch.nn.functional as F

MOMENTUM = 0.9


class BatchNorms:
    """The norms of a network by name, over `weights` named `net.NAME.norm.scale` and `.shift`."""

    def __init__(self, weights, features, epsilon):
        self.weights, self.epsilon = weights, epsilon
        kind = next(iter(weights.values())).dtype
        self.average = {name: torch.zeros(size, dtype=kind) for name, size in features.items()}
        self.variance = {name: torch.ones(size, dtype=kind) for name, size in features.items()}

    def __call__(self, x, name, train):
        affine = [self.weights[f"net.{name}.norm.{kind}"] for kind in ("scale", "shift")]
        if not train:
            kept = self.average[name], self.variance[name]
            return F.batch_norm(x, *kept, *affine, eps=self.epsilon)
        with torch.no_grad():
            moments = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)
            for kept, value in zip((self.average, self.variance), moments):
                kept[name] = MOMENTUM * kept[name] + (1 - MOMENTUM) * value
        return F.batch_norm(x, None, None, *affine, training=True, eps=self.epsilon)
