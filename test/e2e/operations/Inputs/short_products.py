"""short_products.py FOLDER: compares products of bf16 and f16 with NumPy, for each processor.

Operands are small integers, so that sums are exact and a missing or repeated step changes them, and normal numbers,
whose sums are within rounding.
"""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "Inputs")]

from model import Model
from targets import EMULATED, load, targets_of
from windows import convolution

folder = sys.argv[1]
random = np.random.default_rng(7)

# (M, K, N): one, few and many rows, and rests of tiles, vectors, words and panels.
SIZES = [(1, 64, 96), (1, 131, 33), (3, 7, 5), (5, 1, 40), (6, 66, 130), (9, 2, 17), (50, 97, 129), (64, 64, 64), (130, 257, 70)]
FORMS = {"nn": "m k, k n -> m n", "nt": "m k, n k -> m n", "tn": "k m, k n -> m n", "tt": "k m, n k -> m n"}
entries, references = [], []


def rounded(x, dtype):
    """Numbers as bf16 or f16 holds them."""
    if dtype == "f16":
        return x.astype(np.float16).astype(np.float64)
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


def entry(operands, results, body, reference):
    """`operands` and `results` map names to types of f32; `body` has one expression for each result."""
    name = f"e{len(entries)}"
    feeds = ", ".join(f"{key}: f32{list(shape)}" for key, (shape, _) in operands.items())
    outs = ", ".join(f"{key}: f32{list(shape)}" for key, shape in results.items())
    entries.append(f"entry {name}({feeds}) -> ({outs}) {{ return {body} }}".replace("'", ""))
    references.append((name, {key: sizes for key, (_, sizes) in operands.items()}, reference))


def fixed(*shape):
    return shape, shape


for m, k, n in SIZES:
    for form, equation in FORMS.items():
        a = (m, k) if form[0] == "n" else (k, m)
        b = (k, n) if form[1] == "n" else (n, k)
        entry({"x": fixed(*a), "y": fixed(*b)}, {"z": (m, n)}, f'f32(einsum("{equation}", T(x), T(y)))',
              lambda x, y, equation=equation: np.einsum(equation.replace(" ", ""), x, y))
np.save(os.path.join(folder, "rows.npy"), np.arange(20, dtype=np.int32) * 3)
# Constant weights, in the order in which tiles read them.
for m, k, n in SIZES:
    weights = random.integers(-2, 3, size=(k, n)).astype(np.float32)
    np.save(os.path.join(folder, f"w{k}x{n}.npy"), weights)
    for form in "nn", "tn":
        entry({"x": fixed(*((m, k) if form == "nn" else (k, m)))}, {"z": (m, n)},
              f'f32(einsum("{FORMS[form]}", T(x), T(load("w{k}x{n}.npy"))))',
              lambda x, w=weights, form=form: np.einsum(FORMS[form].replace(" ", ""), x, w))
# Sizes that calls decide.
for m, k, n in (1, 64, 96), (7, 31, 45), (40, 70, 33):
    for form, equation in FORMS.items():
        a = ("m", "k") if form[0] == "n" else ("k", "m")
        b = ("k", "n") if form[1] == "n" else ("n", "k")
        entry({"x": (a, (m, k) if form[0] == "n" else (k, m)), "y": (b, (k, n) if form[1] == "n" else (n, k))},
              {"z": ("m", "n")}, f'f32(einsum("{equation}", T(x), T(y)))',
              lambda x, y, equation=equation: np.einsum(equation.replace(" ", ""), x, y))
# Batches, heads that are an inner axis, what the product reads through a gather or computes, and an epilogue.
entry({"x": fixed(3, 35, 19), "y": fixed(3, 19, 50)}, {"z": (3, 35, 50)}, "f32(matmul(T(x), T(y)))", lambda x, y: x @ y)
entry({"x": fixed(2, 35, 3, 21), "y": fixed(2, 40, 3, 21)}, {"z": (2, 3, 35, 40)},
      'f32(einsum("b q h d, b k h d -> b h q k", T(x), T(y)))', lambda x, y: np.einsum("bqhd,bkhd->bhqk", x, y))
entry({"x": fixed(60, 37), "y": fixed(37, 66)}, {"z": (20, 66)}, "f32(matmul(gather(T(x), load(\"rows.npy\")), T(y)))",
      lambda x, y: x[::3] @ y)
entry({"x": fixed(20, 37), "y": fixed(74, 66)}, {"z": (20, 66)}, "f32(relu(matmul(T(x), T(y)[1::2])) * T(2))",
      lambda x, y: 2 * np.maximum(x @ y[1::2], 0))
for channels, features, stride in (3, 20, 1), (1, 17, 1), (18, 40, 1), (33, 64, 2):
    entry({"x": fixed(2, 11, 9, channels), "y": fixed(3, 3, channels, features)},
          {"z": (2, -(-11 // stride), -(-9 // stride), features)},
          f'f32(convolution(T(x), T(y), padding: "same", stride: {stride}))',
          lambda x, y, stride=stride: convolution(x, y, padding="same", stride=stride))

print(len(entries), "entries")
for dtype, unit in ("bf16", 2.0**-8), ("f16", 2.0**-11):
    source = os.path.join(folder, f"{dtype}.graph")
    with open(source, "w", encoding="utf-8") as file:
        file.write("\n".join(["graph g edition 1", *entries]).replace("T(", f"{dtype}("))
    for target in dict.fromkeys([EMULATED or "native", *targets_of(dtype)]):
        library = os.path.join(folder, f"{dtype}-{target}.so")
        models = [load(target, source, library, threads=1)]
        if target == "native":
            models.append(Model(library, threads=3))
        for name, sizes, reference in references:
            for exact in True, False:
                feeds = {key: (random.integers(-2, 3, size=shape) if exact else random.normal(size=shape)).astype(np.float32)
                         for key, shape in sizes.items()}
                results = [model.call(name, **feeds)[0] for model in models]
                np.testing.assert_array_equal(results[0], results[-1], err_msg=name)
                operands = {key: rounded(x, dtype) for key, x in feeds.items()}
                expected = reference(**operands)
                if exact and np.abs(expected).max(initial=0) * unit < 1:
                    np.testing.assert_array_equal(results[0], expected, err_msg=f"{target} {name}")
                size = np.abs(reference(**{key: np.abs(x) for key, x in operands.items()})).max(initial=0)
                error = np.abs(results[0] - expected)
                assert (error <= 1.1 * unit * np.abs(expected) + 1e-6 * size).all(), (target, name)
    print(f"{dtype}: {len(entries)} products agree")
