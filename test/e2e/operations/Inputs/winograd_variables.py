"""winograd_variables.py FOLDER: writes graphs of convolutions whose weights are fed, with their gradients, and compares
these with sums in f64, each for the processor that it draws, and with one, two and eight threads."""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "Inputs")]

from targets import by_target, load

folder = sys.argv[1]
random = np.random.default_rng(18)


def write(name, text):
    path = os.path.join(folder, f"{name}.graph")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"graph convolutions edition 1\n{text}")
    return path


def results_of(shape, taps, pads):
    return [size + 2 * pad - k + 1 for size, k, pad in zip(shape[1:-1], taps, pads)]


def entry(name, shape, taps, features, pads):
    def sizes(*numbers):
        return ", ".join(map(str, numbers))

    image, weights = sizes(*shape), sizes(*taps, shape[-1], features)
    result = sizes(shape[0], *results_of(shape, taps, pads), features)
    return f"""entry {name}(x: f32[{image}], w: f32[{weights}], g: f32[{result}]) ->
    (y: f32[{result}], dx: f32[{image}], dw: f32[{weights}]) {{
  y = convolution(x, w, pads: [{sizes(*(pad for pad in pads for _ in range(2)))}])
  loss = sum(y * g)
  return y, gradients(loss, x), gradients(loss, w)
}}
"""


def reference(x, w, g, pads):
    """The convolution and its gradients, in f64."""
    x, w, g = (array.astype(np.float64) for array in (x, w, g))
    padded = np.pad(x, [(0, 0), *((pad, pad) for pad in pads), (0, 0)])
    y, dx, dw = np.zeros_like(g), np.zeros_like(padded), np.zeros_like(w)
    for tap in np.ndindex(w.shape[:-2]):
        window = (slice(None), *(slice(first, first + size) for first, size in zip(tap, g.shape[1:-1])))
        y += padded[window] @ w[tap]
        dx[window] += g @ w[tap].T
        dw[tap] = np.tensordot(padded[window], g, (range(x.ndim - 1), range(x.ndim - 1)))
    inside = (slice(None), *(slice(pad, pad + size) for pad, size in zip(pads, x.shape[1:-1])))
    return y, dx[inside], dw


# Sizes with all rests of tiles; one image, several that are one block, and blocks.
CASES = [
    ((2, 12, 12, 64), (3, 3), 64, (1, 1)), ((3, 13, 14, 70), (3, 3), 96, (1, 1)), ((12, 15, 11, 64), (3, 3), 65, (0, 0)),
    ((1, 30, 30, 80), (3, 3), 64, (2, 2)), ((16, 14, 14, 32), (5, 5), 64, (2, 2)), ((3, 17, 15, 40), (5, 5), 50, (1, 1)),
    ((6, 18, 12, 33), (5, 5), 48, (2, 2)), ((1, 28, 28, 32), (5, 5), 32, (2, 2)), ((3, 131, 128), (3,), 140, (1,)),
    ((4, 203, 65), (7,), 64, (0,)), ((4, 11, 18, 64), (1, 7), 64, (0, 3)), ((3, 19, 9, 70), (5, 1), 64, (2, 0)),
    ((4, 23, 22, 64), (3, 2), 64, (1, 0)),
]
write("small", entry("f", (2, 7, 7, 16), (3, 3), 16, (1, 1)) + entry("g", (64, 28, 28, 1), (5, 5), 32, (2, 2)))
write("blocks", entry("f", (16, 14, 14, 32), (5, 5), 64, (2, 2)))
write("placed", entry("f", (16, 14, 14, 32), (5, 5), 64, (2, 2)).replace("  y =", "  @device(\"cpu:1\") y ="))

feeds = []
for shape, taps, features, pads in CASES:
    x = random.normal(size=shape).astype(np.float32)
    w = (random.normal(size=(*taps, shape[-1], features)) / (np.prod(taps) * shape[-1]) ** 0.5).astype(np.float32)
    g = random.normal(size=(shape[0], *results_of(shape, taps, pads), features))
    feeds.append({"x": x, "w": w, "g": g.astype(np.float32)})
wanted = [reference(**feed, pads=case[3]) for feed, case in zip(feeds, CASES)]

largest = 0
for target, chosen in by_target(CASES, str):
    source = write(target, "".join(entry(f"e{number}", *case) for number, case in chosen))
    for accuracy, most in ("default", 1e-4), ("strict", 1e-5):
        library = os.path.join(folder, f"{target}-{accuracy}.so")
        models = [load(target, source, library, f"--accuracy={accuracy}", threads=threads) for threads in (1, 2, 8)]
        for number, _ in chosen:
            results, *others = [model.call(f"e{number}", **feeds[number]) for model in models]
            for part, actual, exact in zip(("y", "dx", "dw"), results, wanted[number]):
                error = np.abs(actual - exact).max() / np.abs(exact).max()
                assert error < most, (target, accuracy, number, part, error)
                if accuracy == "default":
                    largest = max(largest, error)
            for again in others:
                assert [a.tobytes() for a in results] == [a.tobytes() for a in again], (target, accuracy, number)
print(f"{len(CASES)} convolutions and their gradients agree")
print("with any number of threads the bits are the same")
print(f"the largest error is {largest:.1e}", file=sys.stderr)
