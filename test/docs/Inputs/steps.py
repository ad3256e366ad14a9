"""Steps with given gradients in NumPy, against docs/examples/gradients: steps.py MODEL.so DTYPE."""

import os
import sys

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.append(os.path.join(ROOT, "test", "e2e", "Inputs"))
from model import Model

NAMES = ("w1", "b1", "w2", "b2")


def classes(w, x, label):
    """The cross entropy and its gradients."""
    before = x / 16 @ w["w1"] + w["b1"]
    hidden = np.maximum(before, 0)
    logits = hidden @ w["w2"] + w["b2"]
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    rows = np.arange(len(x))
    loss = -np.log(p[rows, label]).mean()
    p[rows, label] -= 1
    p /= len(x)
    back = (p @ w["w2"].T) * (before > 0)
    return loss, [(x / 16).T @ back, back.sum(0), hidden.T @ p, p.sum(0)]


def codes(w, x, code):
    """The mean squared distance of the hidden layer, and its gradients."""
    before = x / 16 @ w["w1"] + w["b1"]
    distance = np.maximum(before, 0) - code
    back = 2 * distance / distance.size * (before > 0)
    return (distance**2).mean(), [(x / 16).T @ back, back.sum(0), 0 * w["w2"], 0 * w["b2"]]


def dot(a, b):
    return sum((x * y).sum() for x, y in zip(a, b))


class Reference:
    def __init__(self, w):
        self.w, self.velocity = w, [np.zeros_like(v) for v in w.values()]
        self.sums, self.count, self.step = [0 * v for v in w.values()], 0, 0
        self.m, self.s = [0 * v for v in w.values()], [0 * v for v in w.values()]

    def subtract(self, deltas):
        for v, delta in zip(self.w.values(), deltas):
            v -= delta

    def micro_batches(self, x, label, rate):
        parts = [classes(self.w, *part) for part in zip(x, label)]
        grads = [sum(g) / len(parts) for g in zip(*[g for _, g in parts])]
        self.velocity = [0.9 * v + g for v, g in zip(self.velocity, grads)]
        self.subtract([rate * v for v in self.velocity])
        return np.mean([loss for loss, _ in parts]), np.sqrt(dot(grads, grads))

    def adam(self, grads):
        norm = np.sqrt(dot(grads, grads))
        grads = [g * min(1, 1 / norm) for g in grads]
        self.step += 1
        self.m = [0.9 * m + 0.1 * g for m, g in zip(self.m, grads)]
        self.s = [0.999 * s + 0.001 * g * g for s, g in zip(self.s, grads)]
        scale, root = 1 - 0.9**self.step, 1 - 0.999**self.step
        self.subtract([0.01 * (m / scale) / (np.sqrt(s / root) + 1e-8) for m, s in zip(self.m, self.s)])

    def calls(self, x, label):
        loss, grads = classes(self.w, x, label)
        self.sums = [s + g / 3 for s, g in zip(self.sums, grads)]
        self.count += 1
        if self.count % 3 == 0:
            self.adam(self.sums)
            self.sums = [0 * s for s in self.sums]
        return [loss]

    def two_losses(self, x, label, code, rate):
        first, a = classes(self.w, x, label)
        second, b = codes(self.w, x, code)
        product = dot(a, b)
        of_a, of_b = min(product, 0) / dot(b, b), min(product, 0) / dot(a, a)
        self.subtract([rate * (p - of_a * q + q - of_b * p) for p, q in zip(a, b)])
        return first, second, product


def main():
    model, dtype = Model(sys.argv[1]), {"f32": np.float32, "f64": np.float64}[sys.argv[2]]
    path = os.path.join(ROOT, "docs/examples/digits/digits.csv")
    data = np.loadtxt(path, delimiter=",", skiprows=1)
    reference = Reference({name: model[name].astype(np.float64) for name in NAMES})
    limit = 1e-9 if dtype == np.float64 else 2e-3
    against = 0
    for step in range(12):
        batch = data[step * 32 : (step + 1) * 32]
        x, label = batch[:, :64], batch[:, 64].astype(np.int32)
        feeds = [("micro_batches", {"x": x.reshape(4, 8, 64), "label": label.reshape(4, 8), "rate": np.array(0.05)}),
                 ("calls", {"x": x, "label": label})]
        code = np.random.default_rng(step).normal(size=(32, 32))
        feeds.append(("two_losses", {"x": x, "label": label, "code": code, "rate": np.array(0.1)}))
        for entry, values in feeds:
            expected = getattr(reference, entry)(**values)
            cast = {k: v if v.dtype == np.int32 else v.astype(dtype) for k, v in values.items()}
            got = np.atleast_1d(model.call(entry, **cast))
            against += entry == "two_losses" and expected[2] < 0
            if not np.allclose(got, expected, rtol=limit, atol=limit):
                print(f"step {step}, {entry}: {[float(v) for v in got]}, expected {expected}")
                return 1
    for name in NAMES:
        if not np.allclose(model[name], reference.w[name], rtol=limit, atol=limit):
            print(f"{name} differs")
            return 1
    print(f"36 steps agree; {against > 0}: some gradients point against each other")
    return 0


sys.exit(main())
