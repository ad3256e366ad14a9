"""resize_peers.py VALUES.npz FOLDER: compares `resize` with the results of a peer that resize_values.py stored."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from agree import difference
from targets import by_target, load


def read(path):
    """The images, and for each case its call, the name of its image, the expected value and the tolerance."""
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


def compare(target, cases, images, folder):
    text = "graph peers\nuse images: resize\n"
    for i, (call, image, y, _) in cases:
        text += f"entry c{i}({image}: {typed(images[image])}) -> (y: {typed(y)}) {{ return {call} }}\n"
    os.makedirs(folder, exist_ok=True)
    graph = os.path.join(folder, "peers.graph")
    with open(graph, "w", encoding="utf-8") as file:
        file.write(text)
    model, wrong = load(target, graph, os.path.join(folder, "peers.so")), 0
    for i, (call, image, y, tolerance) in cases:
        what = difference(model.call(f"c{i}", **{image: images[image]})[0], y, tolerance)
        if what:
            wrong += 1
            print(f"{call}, code for {target}: {what}")
    return wrong


def main():
    images, cases = read(sys.argv[1])
    wrong = sum(compare(target, chosen, images, os.path.join(sys.argv[2], target))
                for target, chosen in by_target(cases, lambda case: case[0]))
    print(f"{len(cases)} cases, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
