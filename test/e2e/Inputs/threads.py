"""threads.py MODEL.so: checks that the entry `train` returns the same bits for 1, 2 and 8 threads, and again."""

import sys

import numpy as np

from model import Model


def results(library, threads, x):
    return b"".join(np.asarray(y).tobytes() for y in Model(library, threads).call("train", x=x))


def main():
    random, wrong = np.random.default_rng(1), 0
    for n in 0, 1, 16:
        x = random.normal(size=(n, 33, 30, 3)).astype(np.float32)
        once = results(sys.argv[1], 1, x)
        for threads in 1, 2, 8:
            if results(sys.argv[1], threads, x) != once:
                wrong += 1
                print(f"n = {n}: other bits with {threads} threads")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
