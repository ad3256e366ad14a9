"""The entries of shuffle.graph in NumPy."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))
from model import Model


def in_order(x):
    _, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    by = np.argsort(first)
    return x[np.sort(first)], np.argsort(by)[inverse], counts[by]


def loop(x, part):
    y, sizes = np.zeros(2, np.float32), []
    for i in range(3):
        for row in x[part == i]:
            y = np.float32(0.5) * y + row
        sizes.append((part == i).sum())
    return [y, sizes]


def expected(rng, n):
    whole = rng.integers(-5, 6, n).astype(np.int32)
    yield "distinct", dict(x=whole), np.unique(whole, return_inverse=True, return_counts=True)
    halves = (whole / 2).astype(np.float32)
    yield "first", dict(x=halves), in_order(halves)
    x, part = rng.standard_normal((n, 2)).astype(np.float32), rng.integers(0, 3, n).astype(np.int32)
    yield "parts", dict(x=x, label=part), [*(x[part == i] for i in range(3)), x]
    v = np.ascontiguousarray(x[:, 0])
    yield "branch", dict(x=v, label=part), [np.unique(part).sum() if n > 2 else v[part == 1].sum()]
    yield "loop", dict(x=x, label=part), loop(x, part)
    h = np.ones(3, np.float32)
    rows = [h * np.float32(0.5) ** i + i for i in range(min(n, 50))]
    yield "steps", dict(count=min(n, 50), x=h), [np.array(rows).reshape(-1, 3)]


def main():
    compared = 0
    for threads in (1, 2, 8):
        model, rng = Model(sys.argv[1], threads), np.random.default_rng(4)
        for n in (0, 1, 2, 3, 7, 50, 300, 4):
            for entry, feeds, wanted in expected(rng, n):
                for got, want in zip(model.call(entry, **feeds), wanted, strict=True):
                    what = f"{entry} of {n} elements"
                    assert got.shape == np.shape(want), f"{what}: {got.shape}, {np.shape(want)}"
                    np.testing.assert_allclose(got, want, 1e-5, 1e-5, err_msg=what)
                    compared += 1
    print(compared, "results agree")


main()
