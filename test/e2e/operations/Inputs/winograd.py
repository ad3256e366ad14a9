"""winograd.py FOLDER: writes the graphs of the test, and compares convolutions with sums in f64, each for the
processor that it draws."""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "Inputs")]

from targets import by_target, load
from windows import convolution

folder = sys.argv[1]
random = np.random.default_rng(8)


def save(name, array):
    np.save(os.path.join(folder, name), array)


def write(name, text):
    with open(os.path.join(folder, f"{name}.graph"), "w", encoding="utf-8") as file:
        file.write(f"graph convolutions edition 1\n{text}")


for channels, features, kind in [(32, 40, "f4"), (4, 40, "f4"), (32, 40, "f8")]:
    save(f"w{channels}{kind}", random.normal(size=(3, 3, channels, features)).astype(kind))
write("same", """let w = load("w32f4.npy")
entry f(x: f32[2, 15, 12, 32]) -> (y: f32[2, 15, 12, 40]) { return convolution(x, w, padding: "same") }
""")
forms = {"square": (5, 5), "row": (1, 7), "column": (7, 1), "line": (3,)}
for name, taps in forms.items():
    save(name, random.normal(size=(*taps, 64, 64)).astype(np.float32))
write("forms", "".join(
    f"""let {name}_weights = load("{name}.npy")
entry {name}(x: f32[1{", 28" * len(taps)}, 64]) -> (y: f32[1{", 28" * len(taps)}, 64]) {{
  return convolution(x, {name}_weights, padding: "same")
}}
""" for name, taps in forms.items()))
write("others", """let w = load("w32f4.npy"), narrow = load("w4f4.npy"), wide = load("w32f8.npy")
var v: f32[3, 3, 32, 40] = zeros()
entry a(x: f32[1, 14, 14, 32]) -> (y: f32[1, 12, 12, 40]) { return convolution(x, v) }
entry b(x: f32[1, 34, 34, 32]) -> (y: f32[1, 16, 16, 40]) { return convolution(x, w, stride: 2) }
entry d(x: f32[1, 14, 14, 4]) -> (y: f32[1, 12, 12, 40]) { return convolution(x, narrow) }
entry e(x: f64[1, 14, 14, 32]) -> (y: f64[1, 12, 12, 40]) { return convolution(x, wide) }
""")

# Sizes with all rests of tiles, several images, zeros that differ on each side, many tiles, and many channels; then taps of other
# numbers along one or two axes, which have tiles of other sizes.
cases = []
for sizes, taps, channels, features, options in [
    ((1, 12, 12), (3, 3), 32, 32, {"padding": "same"}), ((1, 13, 14), (3, 3), 40, 64, {"padding": "same"}),
    ((3, 15, 11), (3, 3), 33, 50, {"padding": "same"}), ((1, 14, 14), (3, 3), 64, 48, {}),
    ((2, 21, 9), (3, 3), 32, 70, {"pads": [2, 1, 0, 2]}), ((1, 28, 28), (3, 3), 128, 128, {"padding": "same"}),
    ((1, 7, 7), (3, 3), 64, 64, {"padding": "same"}), ((1, 61, 70), (3, 3), 32, 48, {"padding": "same"}),
    ((1, 14, 13), (3, 3), 256, 130, {"padding": "same"}), ((1, 28, 28), (3, 3), 256, 48, {}),
    ((1, 19, 18), (5, 5), 33, 48, {"padding": "same"}), ((2, 11, 17), (1, 7), 48, 40, {"padding": "same"}),
    ((1, 17, 12), (7, 1), 64, 48, {"padding": "same"}), ((2, 131), (3,), 40, 48, {"padding": "same"}), ((1, 60), (5,), 64, 33, {}),
    ((1, 53), (9,), 48, 48, {"padding": "same"}), ((1, 18, 19), (4, 2), 48, 64, {}), ((1, 16, 21), (7, 7), 32, 40, {"padding": "same"}),
    ((1, 15, 22), (3, 5), 40, 48, {"padding": "same"}), ((1, 12, 30), (1, 3), 64, 64, {"padding": "same"}),
]:
    x = random.normal(size=(*sizes, channels)).astype(np.float32)
    w = (random.normal(size=(*taps, channels, features)) / np.prod(taps)**0.5 / channels**0.5).astype(np.float32)
    y = convolution(x.astype(np.float64), w.astype(np.float64), **options)
    number = len(cases)
    save(f"c{number}", w)
    given = "".join(f', {k}: "{v}"' if isinstance(v, str) else f", {k}: {v}" for k, v in options.items())
    shapes = [", ".join(map(str, value.shape)) for value in (x, y)]
    text = f'''let c{number} = load("c{number}.npy")
entry e{number}(x: f32[{shapes[0]}]) -> (y: f32[{shapes[1]}]) {{ return relu(convolution(x, c{number}{given}) + 0.1) }}
'''
    cases.append((f"{sizes} {taps} {channels} {features}{given}", text, x, np.maximum(y + 0.1, 0)))

for target, chosen in by_target(cases, lambda case: case[0]):
    write(target, "".join(text for _, (_, text, _, _) in chosen))
    for accuracy, most in ("default", 1e-4), ("strict", 1e-5):
        paths = [os.path.join(folder, name) for name in (f"{target}.graph", f"{target}-{accuracy}.so")]
        models = [load(target, *paths, f"--accuracy={accuracy}", threads=threads) for threads in (1, 3)]
        for number, (_, _, x, y) in chosen:
            z, other = [model.call(f"e{number}", x=x)[0] for model in models]
            error = np.abs(z - y).max() / np.abs(y).max()
            assert error < most, (target, accuracy, number, error)
            assert (z == other).all(), (target, accuracy, number)
print(f"{len(cases)} convolutions agree")
