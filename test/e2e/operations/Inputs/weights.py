"""weights.py FOLDER: compares products with stored weights of fewer bits with NumPy, for each processor."""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "Inputs")]

from targets import TARGETS, load

folder = sys.argv[1]
random = np.random.default_rng(3)
# One channel is all zeros, and one has a large element.
weights = {
    "w": random.normal(size=(70, 131)), "v": random.normal(size=(53, 70)), "u": random.normal(size=(9, 70, 8)),
    "l": random.normal(size=(64, 70)), "b": random.normal(size=(3, 70, 33)),
}
weights["w"][:, 5] = 0
weights["w"][3, 7] = 500
weights = {name: value.astype(np.float32) for name, value in weights.items()}
for name, value in weights.items():
    np.save(os.path.join(folder, name), value)
with open(os.path.join(folder, "g.graph"), "w", encoding="utf-8") as file:
    file.write("""graph g edition 1
let w = load("w.npy"), v = load("v.npy"), u = load("u.npy"), l = load("l.npy"), b = load("b.npy")
entry one(x: f32[1, 70]) -> (y: f32[1, 131]) { return tanh(matmul(x, w) + 0.5) }
entry many(x: f32[n <= 64, 70]) -> (y: f32[n, 131]) { return matmul(x, w) }
entry table(i: i32[n <= 16]) -> (y: f32[n, 53], rows: f32[n, 70]) {
  rows = gather(v, i)
  return matmul(rows, v, transpose_rhs: true), rows
}
entry several(x: f32[n <= 16, 70]) -> (y: f32[n, 8, 9]) { return einsum("n c, h c d -> n d h", x, u) }
entry left(x: f32[70, 40]) -> (y: f32[64, 40]) { return matmul(l, x) }
entry batch(x: f32[3, 5, 70]) -> (y: f32[3, 5, 33]) { return matmul(x, b) }
entry loop(x: f32[2, 70], times: i32) -> (y: f32[2, 53]) {
  _, y = while t > 0 with t = times, y = zeros(f32[2, 53]) {
    yield t - 1, y * 0.5 + matmul(x, v, transpose_rhs: true)
  }
  return y
}
""")


def to_bfloat(value, _):
    bits = value.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def to_bytes(value, summed):
    """A scale for each channel makes its largest element 127."""
    scale = (np.abs(value).max(summed, keepdims=True) / np.float32(127)).astype(np.float32)
    scale[scale == 0] = 1
    return np.clip(np.rint(value / scale), -127, 127) * scale.astype(np.float64)


x1, xn, xs = (random.normal(size=size).astype(np.float32) for size in ((1, 70), (37, 70), (11, 70)))
xl, xb, xt = (random.normal(size=size).astype(np.float32) for size in ((70, 40), (3, 5, 70), (2, 70)))
rows = np.array([0, 52, 7, 7], np.int32)


def references(rounded):
    w, v, u, l, b = (rounded(weights[name], axis).astype(np.float64) for name, axis in
                     (("w", 0), ("v", 1), ("u", 1), ("l", 1), ("b", 1)))
    term, y = xt @ v.T, 0
    for _ in range(3):
        y = y * 0.5 + term
    return {
        "one": ({"x": x1}, [np.tanh(x1 @ w + 0.5)]), "many": ({"x": xn}, [xn @ w]),
        "table": ({"i": rows}, [v[rows] @ v.T, v[rows]]), "several": ({"x": xs}, [np.einsum("nc,hcd->ndh", xs, u)]),
        "left": ({"x": xl}, [l @ xl]), "batch": ({"x": xb}, [xb @ b]),
        "loop": ({"x": xt, "times": np.int32(3)}, [y]),
    }


source = os.path.join(folder, "g.graph")
for kind, rounded in (("bf16", to_bfloat), ("int8", to_bytes)):
    expected, exact = references(rounded), references(lambda value, _: value)
    for target in TARGETS:
        models = [load(target, source, os.path.join(folder, f"{kind}-{target}-{threads}.so"), f"--weights={kind}",
                       threads=threads) for threads in (1, 3)]
        for name, (feeds, values) in expected.items():
            results = [model.call(name, **feeds) for model in models]
            for got, again, value, true in zip(*results, values, exact[name][1]):
                np.testing.assert_array_equal(got, again, err_msg=name)
                size = np.abs(value).max()
                assert np.abs(got - value).max() < 2e-6 * size, (kind, target, name)
                assert np.abs(value - true).max() < 0.05 * size, (kind, name)
    print(f"{kind}: {len(expected)} entries agree")
