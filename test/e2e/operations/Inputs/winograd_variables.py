"""winograd_variables.py FOLDER: writes graphs of convolutions whose weights are fed, with their gradients, and compares
these with sums in f64, for each processor, and with one, two and eight threads."""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "Inputs")]

from model import Model
from targets import TARGETS, load

folder = sys.argv[1]
random = np.random.default_rng(18)


def write(name, text):
    path = os.path.join(folder, f"{name}.graph")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"graph {name} edition 1\n{text}")
    return path


def entry(name, shape, taps, features, pads):
    n, h, w, c = shape
    result = f"{n}, {h + 2 * pads - taps + 1}, {w + 2 * pads - taps + 1}, {features}"
    return f"""entry {name}(x: f32[{n}, {h}, {w}, {c}], w: f32[{taps}, {taps}, {c}, {features}], g: f32[{result}]) ->
    (y: f32[{result}], dx: f32[{n}, {h}, {w}, {c}], dw: f32[{taps}, {taps}, {c}, {features}]) {{
  y = convolution(x, w, pads: {pads})
  loss = sum(y * g)
  return y, gradients(loss, x), gradients(loss, w)
}}
"""


def reference(x, w, g, pads):
    """The convolution and its gradients, in f64."""
    x, w, g = (array.astype(np.float64) for array in (x, w, g))
    around = [(0, 0), (pads, pads), (pads, pads), (0, 0)]
    padded = np.pad(x, around)
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[:2], (1, 2))
    dx = np.zeros_like(padded)
    for a, b in np.ndindex(w.shape[:2]):
        dx[:, a : a + g.shape[1], b : b + g.shape[2]] += g @ w[a, b].T
    y = np.einsum("nijcab,abcf->nijf", windows, w, optimize=True)
    dw = np.einsum("nijcab,nijf->abcf", windows, g, optimize=True)
    return y, dx[:, pads : pads + x.shape[1], pads : pads + x.shape[2]], dw


# Sizes with all rests of tiles; one image, several that are one block, and blocks.
CASES = [
    ((2, 12, 12, 64), 3, 64, 1), ((3, 13, 14, 70), 3, 96, 1), ((12, 15, 11, 64), 3, 65, 0), ((1, 30, 30, 80), 3, 64, 2),
    ((16, 14, 14, 32), 5, 64, 2), ((3, 17, 15, 40), 5, 50, 1), ((6, 18, 12, 33), 5, 48, 2), ((1, 28, 28, 32), 5, 32, 2),
]
source = write("all", "".join(entry(f"e{i}", *case) for i, case in enumerate(CASES)))
write("small", entry("f", (2, 7, 7, 16), 3, 16, 1) + entry("g", (64, 28, 28, 1), 5, 32, 2))
write("blocks", entry("f", (16, 14, 14, 32), 5, 64, 2))
write("placed", entry("f", (16, 14, 14, 32), 5, 64, 2).replace("  y =", "  @device(\"cpu:1\") y ="))

feeds = []
for shape, taps, features, pads in CASES:
    x = random.normal(size=shape).astype(np.float32)
    w = (random.normal(size=(taps, taps, shape[3], features)) / taps / shape[3] ** 0.5).astype(np.float32)
    g = random.normal(size=(shape[0], shape[1] + 2 * pads - taps + 1, shape[2] + 2 * pads - taps + 1, features))
    feeds.append({"x": x, "w": w, "g": g.astype(np.float32)})
wanted = [reference(**feed, pads=case[3]) for feed, case in zip(feeds, CASES)]

largest = 0
for target in TARGETS:
    for accuracy, most in ("default", 1e-4), ("strict", 1e-5):
        path = os.path.join(folder, f"{target}-{accuracy}.so")
        model = load(target, source, path, f"--accuracy={accuracy}")
        for number, feed in enumerate(feeds):
            for part, actual, exact in zip(("y", "dx", "dw"), model.call(f"e{number}", **feed), wanted[number]):
                error = np.abs(actual - exact).max() / np.abs(exact).max()
                assert error < most, (target, accuracy, number, part, error)
                if accuracy == "default":
                    largest = max(largest, error)
print(f"{len(CASES)} convolutions and their gradients agree")
print(f"the largest error is {largest:.1e}", file=sys.stderr)

library = os.path.join(folder, "native-default.so")
if not os.path.exists(library):
    load("native", source, library)
for number, feed in enumerate(feeds):
    once = [result.tobytes() for result in Model(library, threads=1).call(f"e{number}", **feed)]
    for threads in 2, 8:
        again = [result.tobytes() for result in Model(library, threads=threads).call(f"e{number}", **feed)]
        assert once == again, (number, threads)
print("with any number of threads the bits are the same")
