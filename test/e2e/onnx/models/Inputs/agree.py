"""Compares a reduced model with the recorded results of ONNX Runtime: agree.py NAME FOLDER"""

import os
import sys

import numpy as np
from calls import CALLS, HERE, feeds_of, write_onnx

sys.path.append(os.path.join(HERE, "..", "..", "..", "Inputs"))
import targets

LARGEST = 1e-4  # of the largest output


def check(name, model, recorded):
    """Prints the error of each output; returns the number of those that are wrong."""
    (entry, (_, fetches)), = model.entries.items()
    wrong = 0
    for i, sizes in enumerate(CALLS[name][2]):
        for (fetch, _), got in zip(fetches, model.call(entry, **feeds_of(name, sizes))):
            expected = recorded[f"{i}.{fetch}"]
            if got.shape != expected.shape or got.dtype != expected.dtype:
                print(f"{fetch} {sizes}: {got.dtype}{list(got.shape)}, not {expected.dtype}{list(expected.shape)}")
                wrong += 1
                continue
            error = np.abs(got - expected).max() / np.abs(expected).max()
            print(f"{fetch} {sizes}: off by {error:.1e} of the largest")
            wrong += not error <= LARGEST
    return wrong


def main():
    name, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, name + ".onnx")
    write_onnx(name, source)
    wrong = 0
    for target in targets.targets_of(name):
        model = targets.load(target, source, os.path.join(folder, target + ".so"), *CALLS[name][0])
        wrong += check(name, model, np.load(os.path.join(HERE, name + ".npz")))
    print(f"{wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
