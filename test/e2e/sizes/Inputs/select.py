"""The entries of select.graph in NumPy, for masks of all kinds."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))
from model import Model


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=1, keepdims=True)


def expected(rng, n, share):
    """The feeds of each entry and its results."""
    x = rng.standard_normal((n, 4)).astype(np.float32)
    keep = rng.random(n) < share
    w = rng.standard_normal((4, 7)).astype(np.float32)
    kept, v = x[keep], np.ascontiguousarray(x[:, 0])
    yield "mask", dict(x=x, keep=keep), [kept]
    yield "many", dict(x=x, keep=keep), [kept, x[~keep], np.concatenate([kept, x[~keep]])]
    large = v[keep & (v > 0)]
    mean = large.sum() / max(len(large), 1)
    yield "again", dict(x=v, keep=keep), [large, np.int32(len(large)), np.float32(mean)]
    yield "product", dict(x=x, keep=keep, w=w), [kept @ w, softmax(kept), kept.sum(0)]
    rows = rng.standard_normal((2, 4)).astype(np.float32)
    stitched = np.zeros((5, 4), np.float32)
    stitched[[4, 0, 2]] = [*rows, [9, 8, 7, 6]]
    yield "stitched", dict(x=rows), [stitched]
    # Fewer elements than a window has also means no windows.
    windows = np.array([v[i:i + 3] for i in range(min(max(n - 2, 0), 2))], np.float32).reshape(-1, 3)
    yield "framed", dict(x=v[None], count=np.int64(len(windows))), [windows[None]]
    yield "columns", dict(x=np.ascontiguousarray(x[:, :3].T), keep=keep), [kept[:, :3].T]
    a, b = rng.integers(0, 10), rng.integers(0, 12)
    g, on = rng.standard_normal((a, b, 2)).astype(np.float32), rng.random((a, b)) < share
    yield "grid", dict(x=g, keep=on), [g[on], np.argwhere(on), np.argwhere(np.maximum(g, 0))]
    k = keep.sum()
    yield "only_size", dict(x=v, keep=keep), [np.zeros((k, 2)), np.arange(k), np.int64(k)]


def main():
    compared = 0
    for threads in (1, 2, 8):
        model, rng = Model(sys.argv[1], threads), np.random.default_rng(3)
        for n in (0, 1, 5, 300):
            for share in (0.0, 0.1, 0.5, 1.1):
                for entry, feeds, wanted in expected(rng, n, share):
                    results = model.call(entry, **feeds)
                    for got, want in zip(results, wanted, strict=True):
                        what = f"{entry} of {n} elements, {share} of them"
                        assert got.shape == np.shape(want), f"{what}: {got.shape}, {np.shape(want)}"
                        np.testing.assert_allclose(got, want, 1e-5, 1e-5, err_msg=what)
                        compared += 1
    print(compared, "results agree")


main()
