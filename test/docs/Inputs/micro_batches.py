"""Micro-batches against a linear model and Adam in NumPy: micro_batches.py MODEL.so, from docs/examples/gradients."""

import os
import sys

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.append(os.path.join(ROOT, "test", "e2e", "Inputs"))
from model import Model

RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-8


class Reference:
    def __init__(self, values):
        self.values, self.steps = values, 0
        self.m, self.s = [0 * v for v in values], [0 * v for v in values]

    def step(self, x, y):
        """Takes a step of Adam down the mean squared error; returns the norm of the gradients."""
        w, b = self.values
        back = 2 * (x @ w + b - y) / y.size
        grads = [x.T @ back, back.sum(0)]
        self.steps += 1
        for i, g in enumerate(grads):
            self.m[i] = BETA1 * self.m[i] + (1 - BETA1) * g
            self.s[i] = BETA2 * self.s[i] + (1 - BETA2) * g * g
            mean, square = self.m[i] / (1 - BETA1**self.steps), self.s[i] / (1 - BETA2**self.steps)
            self.values[i] = self.values[i] - RATE * mean / (np.sqrt(square) + EPSILON)
        return np.sqrt(sum((g * g).sum() for g in grads))


def agree(step, what, got, expected):
    if np.allclose(got, expected, rtol=1e-4, atol=1e-6):
        return True
    print(f"step {step}, {what}: {got}, expected {expected}")
    return False


def main():
    parts, whole = Model(sys.argv[1]), Model(sys.argv[1])
    reference = Reference([parts[name].astype(np.float64) for name in ("net.w", "net.b")])
    rng = np.random.default_rng(1)
    for step in range(5):
        x, y = rng.normal(size=(4, 8, 3)), rng.normal(size=(4, 8, 2))
        rows = x.reshape(32, 3), y.reshape(32, 2)
        norm = reference.step(*rows)
        (of_parts,) = parts.train(x=x.astype(np.float32), y=y.astype(np.float32))
        (of_whole,) = whole.call("whole", x=rows[0].astype(np.float32), y=rows[1].astype(np.float32))
        right = agree(step, "norm", of_parts, norm) and agree(step, "norm of whole", of_whole, norm)
        for name, expected in zip(("net.w", "net.b"), reference.values):
            right = right and agree(step, name, parts[name], expected)
            right = right and agree(step, name + " of whole", whole[name], expected)
        if not right:
            return 1
    print("5 steps agree")
    return 0


sys.exit(main())
