"""constant_weights.py FOLDER: products of feeds with constants, compiled for each processor, against NumPy."""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "Inputs")]

from agree import difference
from targets import TARGETS, load
from windows import convolution

folder = sys.argv[1]
random = np.random.default_rng(5)
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i32": np.int32, "i64": np.int64}
text, cases = "graph weights edition 1\n", []


def draw(shape, dtype):
    values = random.normal(size=shape) * 2
    return (np.rint(values) if dtype[0] == "i" else values).astype(TYPES[dtype])


def constant(value):
    """Saves a constant; returns an expression for it."""
    name = f"w{len(os.listdir(folder))}.npy"
    np.save(os.path.join(folder, name), value)
    return f'load("{name}")'


def add(expression, function, x, ws, dtype, uses="w0"):
    """An entry whose constants are w0, w1, ..; they are in lets, so that `uses` may mention them twice."""
    global text
    number = len(cases)
    y = function(x, *ws)
    shapes = [", ".join(map(str, value.shape)) for value in (x, y)]
    for k, w in enumerate(ws):
        text += f"let c{number}_{k} = {constant(w)}\n"
        expression = expression.replace(f"w{k}", f"c{number}_{k}")
    text += f"entry e{number}(x: {dtype}[{shapes[0]}]) -> (y: {dtype}[{shapes[1]}]) {{ return {expression} }}\n"
    cases.append((x, y, 2e-2 if dtype == "f16" else 1e-12 if dtype == "f64" else 2e-4))


def product(x, w):
    wide = np.float32 if x.dtype == np.float16 else x.dtype
    return (x.astype(wide) @ w.astype(wide)).astype(x.dtype)


for m, k, n in [(1, 1, 1), (1, 300, 256), (5, 7, 100), (33, 64, 65), (49, 37, 128), (2, 513, 7), (130, 256, 24), (8, 2, 200),
                (64, 1100, 16), (3, 96, 1000)]:
    for dtype in ["f32", *(["f64", "i32", "i64", "f16"] if m * k * n < 200000 else [])]:
        x, w = draw((m, k), dtype), draw((k, n), dtype)
        add("matmul(x, w0)", product, x, [w], dtype)
        add("matmul(x, w0, transpose_rhs: true)", lambda x, w: product(x, w.T), x, [draw((n, k), dtype)], dtype)
x = draw((2, 3, 5, 20), "f32")
add('einsum("a b c i, i o p -> a b c o p", x, w0)', lambda x, w: np.einsum("abci,iop->abcop", x, w), x,
    [draw((20, 3, 21), "f32")], "f32")
add('einsum("a b c i, b i o -> a b c o", x, w0)', lambda x, w: np.einsum("abci,bio->abco", x, w), x,
    [draw((3, 20, 70), "f32")], "f32")
add('einsum("a b c i, c o i -> a b o", x, w0)', lambda x, w: np.einsum("abci,coi->abo", x, w), x,
    [draw((5, 66, 20), "f32")], "f32")
add("relu(matmul(x, w0) + w1)", lambda x, w, b: np.maximum(x @ w + b, 0), x, [draw((20, 90), "f32"), draw((90,), "f32")], "f32")
# Nothing else may read a constant whose order changes.
add("matmul(x, w0) * sum(w0)", lambda x, w: x @ w * w.sum(), draw((4, 9), "f64"), [draw((9, 40), "f64")], "f64")
add("matmul(matmul(x, w0), w0)", lambda x, w: x @ w @ w, draw((4, 33), "f64"), [draw((33, 33), "f64")], "f64")
shared = 2
for shape, kernel, options in [
    ((2, 9, 8, 5), (3, 3, 5, 70), {"padding": "same"}),
    ((1, 14, 14, 64), (3, 3, 64, 96), {"padding": "same"}),
    ((1, 7, 7, 40), (3, 3, 40, 33), {"padding": "same", "stride": 2}),
    ((1, 12, 11, 16), (1, 1, 16, 130), {}),
    ((1, 12, 11, 16), (1, 1, 16, 48), {"stride": 2}),
    ((1, 13, 13, 3), (5, 4, 3, 24), {"stride": 2, "dilation": 2}),
    ((1, 10, 10, 12), (3, 3, 4, 36), {"groups": 3, "padding": "same"}),
    ((2, 10, 9, 32), (3, 3, 1, 32), {"groups": 32, "padding": "same"}),
    ((1, 30, 8), (3, 8, 17), {"padding": "same"}),
]:
    given = "".join(f', {key}: "{value}"' if isinstance(value, str) else f", {key}: {value}" for key, value in options.items())
    for dtype in ("f32", "f64"):
        add(f"convolution(x, w0{given})", lambda x, w: convolution(x, w, **options), draw(shape, dtype), [draw(kernel, dtype)],
            dtype)

source = os.path.join(folder, "weights.graph")
with open(source, "w", encoding="utf-8") as file:
    file.write(text)
wrong = 0
for target in TARGETS:
    # winograd.test has the convolutions that are not computed as they are defined.
    model = load(target, source, os.path.join(folder, f"{target}.so"), "--accuracy=strict")
    for number, (x, y, tolerance) in enumerate(cases):
        problem = difference(model.call(f"e{number}", x=x)[0], y, tolerance)
        if problem:
            print(f"{target}: e{number} {problem}")
            wrong += 1
assert not wrong
print(f"{len(cases)} products agree, of which {shared} share a constant")
