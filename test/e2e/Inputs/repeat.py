"""Trains digits in several ways that must give the same bits: repeat.py libdigits.so CHECKPOINT."""

import sys

import numpy as np

from model import Model


def batches():
    random = np.random.default_rng(3)
    for n in [256, 1, 64, 255, 17] * 4:
        yield random.integers(0, 17, size=(n, 64)).astype(np.float32), random.integers(0, 10, size=n)


def state(model):
    return b"".join(model[name].tobytes() for name in sorted(model.variables))


def trained(library, threads):
    model = Model(library, threads)
    losses = [model.train(x=x, label=label)[0] for x, label in batches()]
    return np.array(losses).tobytes() + state(model)


def resumed(library, checkpoint):
    """Like `trained`, but half way another instance continues from a file."""
    model, losses = Model(library), []
    for step, (x, label) in enumerate(batches()):
        if step == 10:
            model.save(checkpoint)
            model = Model(library)
            model.load(checkpoint)
        losses += model.train(x=x, label=label)
    return np.array(losses).tobytes() + state(model)


def main():
    library, checkpoint = sys.argv[1:]
    once = trained(library, 1)
    print("again:", "same" if trained(library, 1) == once else "DIFFERENT")
    for threads in 2, 3, 8:
        print(f"{threads} threads:", "same" if trained(library, threads) == once else "DIFFERENT")
    print("resumed:", "same" if resumed(library, checkpoint) == once else "DIFFERENT")


if __name__ == "__main__":
    main()
