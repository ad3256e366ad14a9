"""resize_peers.py VALUES.npz FOLDER: what `resize` gives is what a peer gave, as resize_values.py kept it."""

import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from agree import difference
from model import Model


def read(path):
    """The images, and of each case its call, the name of its image, the value and how far from it one may be."""
    kept, cases, at = np.load(path), [], 0
    calls = str(kept["calls"]).split("\n")
    for call, sizes, tolerance in zip(calls, kept["sizes"], kept["tolerances"]):
        image = call[len("resize("):].split(",")[0]
        rank = kept[image].ndim - 2
        shape = (1, *sizes[:rank], 2)
        y = kept["values"][at:at + np.prod(shape)].reshape(shape)
        at += y.size
        cases.append((call, image, y, tolerance))
    return {name: kept[name] for name in kept if name.startswith("x")}, cases


def typed(array):
    return f"f32[{', '.join(map(str, array.shape))}]"


def main():
    images, cases = read(sys.argv[1])
    text = "graph peers\nuse images: resize\n"
    for i, (call, image, y, _) in enumerate(cases):
        text += f"entry c{i}({image}: {typed(images[image])}) -> (y: {typed(y)}) {{ return {call} }}\n"
    os.makedirs(sys.argv[2], exist_ok=True)
    graph, library = (os.path.join(sys.argv[2], name) for name in ("peers.graph", "peers.so"))
    with open(graph, "w", encoding="utf-8") as file:
        file.write(text)
    if subprocess.run(["tfc", "compile", graph, "-o", library]).returncode:
        return 1
    model, wrong = Model(library), 0
    for i, (call, image, y, tolerance) in enumerate(cases):
        what = difference(model.call(f"c{i}", **{image: images[image]})[0], y, tolerance)
        if what:
            wrong += 1
            print(f"{call}: {what}")
    print(f"{len(cases)} cases, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
