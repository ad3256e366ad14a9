"""prefixes.py FOLDER: compares products with the first rows and columns of matrices with NumPy, for each processor."""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "Inputs")]

from targets import TARGETS, load

folder = sys.argv[1]
random = np.random.default_rng(3)
w = random.standard_normal((3, 50, 70)).astype(np.float32)
source = os.path.join(folder, "g.graph")
with open(source, "w", encoding="utf-8") as file:
    file.write("""graph g edition 1

var w: f32[3, 50, 70] = zeros()

entry variable(x: f32[m <= 40, 70]) -> (y: f32[m, 37]) { return matmul(x, w[0][:37], transpose_rhs: true) + 1.0 }

entry row(x: f32[1, 70]) -> (y: f32[1, 33]) { return sigmoid(matmul(x, w[2][:33], transpose_rhs: true)) }

entry columns(x: f32[m <= 40, 50]) -> (y: f32[m, 41]) { return matmul(x, w[1][:, :41]) }

## One of the two has to say how many terms there are.
entry terms(x: f32[8, 60], y: f32[60, 90]) -> (z: f32[8, 90], u: f32[8, 90]) {
  return matmul(x[:, :35], y[:35]), matmul(x[:, :35], y[25:])
}

entry both(x: f32[20, 64], y: f32[64, 90]) -> (z: f32[7, 17]) { return matmul(x[:7], y[:, :17]) }

entry several(x: f32[3, 9, 16], y: f32[3, 16, 30]) -> (z: f32[2, 9, 20]) { return matmul(x[:2], y[:2, :, :20]) }

entry integers(x: i32[5, 40], y: i32[40, 24]) -> (z: i32[5, 19]) { return matmul(x, y[:, :19]) }

entry window(x: f32[1, 9, 9, 20], k: f32[3, 3, 16, 40]) -> (y: f32[1, 7, 7, 24]) {
  return convolution(x[:, :, :, :16], k[:, :, :, :24])
}
""")


def draw(*shape):
    return random.standard_normal(shape).astype(np.float32)


def cases():
    for m in (1, 5, 40):
        x, y = draw(m, 70), draw(m, 50)
        yield "variable", {"x": x}, [x @ w[0, :37].T + 1]
        yield "columns", {"x": y}, [y @ w[1, :, :41]]
    x = draw(1, 70)
    yield "row", {"x": x}, [1 / (1 + np.exp(-x @ w[2, :33].T))]
    x, y = draw(8, 60), draw(60, 90)
    yield "terms", {"x": x, "y": y}, [x[:, :35] @ y[:35], x[:, :35] @ y[25:]]
    x, y = draw(20, 64), draw(64, 90)
    yield "both", {"x": x, "y": y}, [x[:7] @ y[:, :17]]
    x, y = draw(3, 9, 16), draw(3, 16, 30)
    yield "several", {"x": x, "y": y}, [x[:2] @ y[:2, :, :20]]
    x, y = random.integers(-99, 99, (5, 40)), random.integers(-99, 99, (40, 24))
    yield "integers", {"x": x, "y": y}, [x @ y[:, :19]]
    x, k = draw(1, 9, 9, 20), draw(3, 3, 16, 40)
    parts = [x[:, a:a + 7, b:b + 7, :16] @ k[a, b, :16, :24] for a in range(3) for b in range(3)]
    yield "window", {"x": x, "k": k}, [np.sum(parts, axis=0)]


expected = list(cases())
for target in TARGETS:
    model = load(target, source, os.path.join(folder, f"{target}.so"), threads=1)
    model["w"] = w
    for name, feeds, values in expected:
        for got, value in zip(model.call(name, **feeds), values, strict=True):
            assert got.shape == value.shape, (name, got.shape, value.shape)
            assert np.abs(got - value).max() <= 3e-6 * np.abs(value).max(initial=1), (target, name)
print(f"{len(expected)} products agree")
