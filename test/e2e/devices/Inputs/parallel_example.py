"""parallel_example.py LIBRARY DIGITS: trains two instances of docs/examples/devices/parallel.graph, one by each entry."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))

import numpy as np
from model import Model

STEPS = 40


def main():
    library, digits = sys.argv[1:]
    data = np.loadtxt(digits, delimiter=",", skiprows=1)
    data = np.random.default_rng(1).permutation(data)
    divided, whole = Model(library), Model(library)
    losses = []
    for step in range(STEPS):
        batch = data[step * 40 :][: 40 + step % 3]  # odd sizes, too
        feeds = {"x": batch[:, :64], "label": batch[:, 64]}
        feeds["label"] = feeds["label"].astype(np.int32)
        losses.append([model.call(entry, **feeds)[0] for model, entry in ((divided, "train"), (whole, "train_whole"))])
    np.testing.assert_allclose(*np.transpose(losses), rtol=1e-5, atol=1e-5)
    print(f"{STEPS} losses agree, from {losses[0][0]:.4f} to {losses[-1][0]:.4f}")


main()
