"""threads.py MODEL.so: checks that results are the same bits for 1, 2, 3 and 8 threads, and from run to run.

Every entry is called twice by instances of each number of threads, with sizes at which work is divided.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from model import Model

SIZES = (1, 37, 1000, 20011)


def feeds_of(model, entry, size):
    random = np.random.default_rng(size)
    feeds = {}
    for (name, dtype), shape in zip(model.entries[entry][0], SHAPES[entry]):
        sizes = [size if extent == "n" else extent for extent in shape]
        if np.dtype(dtype).kind == "f":
            feeds[name] = (random.normal(size=sizes) * 10.0 ** random.integers(-3, 3, size=sizes)).astype(dtype)
        else:
            feeds[name] = random.integers(0, 100, size=sizes).astype(dtype)
    return feeds


SHAPES = {
    "sums": [("n", 50)],
    "softmaxes": [("n", 50)],
    "products": [("n", 50), (50, 70), ("n", 70)],
    "rows": [(100, 8), ("n",), ("n", 8)],
    "scans": [("n", 5)],
    "steps": [("n", 50), ("n",)],
}


def main():
    path, wrong, calls = sys.argv[1], 0, 0
    models = {threads: Model(path, threads) for threads in (1, 2, 3, 8)}
    for entry in SHAPES:
        for size in SIZES:
            feeds = feeds_of(models[1], entry, size)
            expected = None
            for threads, model in models.items():
                for _ in range(2 if entry != "steps" else 1):
                    got = [result.tobytes() for result in model.call(entry, **feeds)]
                    calls += 1
                    if got != (expected or got):
                        wrong += 1
                        print(f"{entry}, n = {size}: {threads} threads give other bits than 1")
                    expected = expected or got
    print(f"{calls} calls, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
