"""Lion in NumPy, against docs/examples/optimizer: lion.py MODEL.so DTYPE."""

import os
import sys

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.append(os.path.join(ROOT, "test", "e2e", "Inputs"))
from model import Model

STEPS, RAMP, DECAY, CLIP, BETA1, BETA2 = 30, 10, 0.1, 1.0, 0.9, 0.99


def gradients(w, x, label):
    """The loss and its gradients by the variables, in the order of `w`."""
    before = x @ w["w1"] + w["b1"]
    hidden = np.maximum(before, 0)
    logits = hidden @ w["w2"] + w["b2"]
    exponentials = np.exp(logits - logits.max(1, keepdims=True))
    p = exponentials / exponentials.sum(1, keepdims=True)
    rows = np.arange(len(x))
    loss = -np.log(p[rows, label]).mean()
    p[rows, label] -= 1
    p /= len(x)
    back = (p @ w["w2"].T) * (before > 0)
    return loss, [x.T @ back, back.sum(0), hidden.T @ p, p.sum(0)]


def main():
    model, dtype = Model(sys.argv[1]), {"f32": np.float32, "f64": np.float64}[sys.argv[2]]
    data = np.loadtxt(
        os.path.join(ROOT, "docs/examples/digits/digits.csv"), delimiter=",", skiprows=1
    )
    w = {name: model[name].copy() for name in ("w1", "b1", "w2", "b2")}
    m = [np.zeros_like(v) for v in w.values()]
    limit = 1e-9 if dtype == np.float64 else 1e-3
    for step in range(STEPS):
        batch = data[step * 40 : (step + 1) * 40]
        x, label = batch[:, :64].astype(dtype), batch[:, 64].astype(np.int32)
        loss, grads = gradients(w, x / 16, label)
        norm = np.sqrt(sum((g * g).sum() for g in grads))
        clip = min(1.0, CLIP / norm)
        rate = 1e-3 / np.sqrt(step + 1.0) * min(1.0, (step + 1) / RAMP)
        for i, (v, g) in enumerate(zip(w.values(), grads)):
            direction = np.sign(BETA1 * m[i] + (1 - BETA1) * clip * g)
            v -= (rate * (direction + (DECAY * v if v.ndim > 1 else 0))).astype(dtype)
            m[i] = (BETA2 * m[i] + (1 - BETA2) * clip * g).astype(dtype)
        got = model.train(x=x, label=label)
        if not np.allclose(got, [loss, norm], rtol=limit):
            print(f"step {step}: {[float(v) for v in got]}, expected {[loss, norm]}")
            return 1
    print(f"{STEPS} steps agree; {' '.join(sorted(model.variables))}")
    return 0


sys.exit(main())
