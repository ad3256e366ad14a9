"""split_example.py LIBRARY OUTPUT CHECKPOINT: repeats the training of docs/examples/devices in NumPy, in f64.

Compares the losses that the program has printed and the variables that it has saved.
"""

import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))

import numpy as np
from model import Model

ROWS, FEATURES, BATCH, STEPS = 512, 16, 64, 400


def make_rows():
    state, rows = 1, np.empty((ROWS, FEATURES))
    for index in np.ndindex(rows.shape):
        state = (state * 1664525 + 1013904223) % 2**32
        rows[index] = (state >> 8) / 8388608 - 1
    return rows, (rows[:, :9] > 0).sum(axis=1)


def gradients(weights, x, label):
    """The mean cross entropy, and its gradient for each weight."""
    count = np.arange(len(x))
    h = np.tanh(x @ weights["first.w"] + weights["first.b"])
    z = h @ weights["second.w"] + weights["second.b"]
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    loss = -np.log(p[count, label]).mean()
    p[count, label] -= 1
    dz = p / len(x)
    dh = dz @ weights["second.w"].T * (1 - h * h)
    return loss, {"first.w": x.T @ dh, "first.b": dh.sum(0), "second.w": h.T @ dz, "second.b": dz.sum(0)}


def train(weights):
    rows, labels = make_rows()
    velocity = {name: np.zeros_like(w) for name, w in weights.items()}
    for step in range(STEPS):
        first = step * BATCH % ROWS
        loss, found = gradients(weights, rows[first : first + BATCH], labels[first : first + BATCH])
        for name, g in found.items():
            velocity[name] = 0.9 * velocity[name] + g
            weights[name] -= 0.1 * velocity[name]
        yield loss
    weights.update({f"opt.velocity/{name}": v for name, v in velocity.items()})


def main():
    library, output, checkpoint = sys.argv[1:]
    model = Model(library)
    weights = {name: model[name].astype(float) for name in model.variables if "/" not in name}
    losses = list(train(weights))
    with open(output, encoding="utf-8") as file:
        printed = re.findall(r"step (\d+): loss (\S+)", file.read())
    for step, loss in printed:
        np.testing.assert_allclose(float(loss), losses[int(step)], rtol=1e-5, err_msg=f"step {step}")
    model.load(checkpoint)
    for name, expected in weights.items():
        np.testing.assert_allclose(model[name], expected, rtol=1e-4, atol=1e-5, err_msg=name)
    print(f"{len(printed)} losses and {len(weights)} tensors agree")


main()
