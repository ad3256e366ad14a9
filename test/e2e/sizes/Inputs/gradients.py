"""Compares the gradients of gradients.graph with central differences of the first result of each entry."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))
from model import Model

STEP = 1e-5


def differences(model, entry, feeds, name):
    gradient = np.zeros_like(feeds[name])
    for i in np.ndindex(gradient.shape):
        ends = []
        for sign in (1, -1):
            moved = feeds[name].copy()
            moved[i] += sign * STEP
            ends.append(model.call(entry, **{**feeds, name: moved})[0])
        gradient[i] = (ends[0] - ends[1]) / (2 * STEP)
    return gradient


def main():
    compared = 0
    for threads in (1, 2):
        model, rng = Model(sys.argv[1], threads), np.random.default_rng(5)
        for entry in model.entries:
            for n, share in ((0, 0.5), (1, 1.1), (4, 0.0), (6, 0.5), (5, 1.1), (7, 0.3)):
                x, w = rng.standard_normal((n, 3)), rng.standard_normal((3, 2))
                feeds = dict(x=x, w=w, keep=rng.random(n) < share)
                _, dx, dw = model.call(entry, **feeds)
                for got, name in ((dx, "x"), (dw, "w")):
                    want = differences(model, entry, feeds, name)
                    np.testing.assert_allclose(
                        got, want, 1e-5, 1e-6, err_msg=f"{entry}: d{name} of {n} rows, {share} of them"
                    )
                    compared += 1
    print(compared, "gradients agree")


main()
