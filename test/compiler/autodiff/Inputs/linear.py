"""Work and memory of gradients of loops: `linear.py MODULE.mlir`.

Each entry runs with T and with 4 T iterations. The elements that are computed or moved grow no more than
fourfold, and so does what tapes hold; its square root does where the name of the entry says so.
"""

import sys

import numpy as np
from check import SIMPLIFY, argument_types, load
from evaluate import Machine


def measure(entry, count):
    random = np.random.default_rng(0)
    arguments = [
        np.array(count, dtype) if dtype == np.int32 else random.uniform(0.2, 1.2, shape)
        for shape, dtype in argument_types(entry)
    ]
    machine = Machine()
    machine.run(entry, arguments)
    return machine.work, machine.most


def main(path):
    for name, entry in load(path, *SIMPLIFY).items():
        (work, held), (more_work, more_held) = measure(entry, 64), measure(entry, 256)
        limit = 2.6 if name.startswith("sqrt") else 4.2
        if more_work > 4.2 * work or more_held > limit * max(held, 1):
            raise SystemExit(f"{name}: work {work} to {more_work}, held {held} to {more_held}")
        print(f"{name}: work {more_work / work:.2f}, held {more_held / max(held, 1):.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
