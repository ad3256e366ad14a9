"""Uses handmade.c through model.py: values, failures, checkpoints."""

import sys

import numpy as np

from model import Failed, Model


def failure(action):
    try:
        action()
    except Failed as failed:
        return f"{failed.status}: {failed}"
    return "no failure"


def cases(random):
    seen = 0
    for n in 0, 1, 8:
        x = random.normal(size=(n, 2)).astype(np.float32)
        seen += n
        yield "scale", {"x": x}, [x * np.float32([1, 2]), np.int64(seen)]


def main():
    library, checkpoint = sys.argv[1:]
    model = Model(library, threads=1)
    print(model.entries["scale"], model.variables)
    model["w"] = [3, 4]
    print("w", model["w"], "y", model.scale(x=[[1, 1], [2, 2]]))
    model.save(checkpoint)
    other = Model(library)
    other.load(checkpoint)
    print("loaded", other["w"], other["seen"])
    print(failure(lambda: model.scale(x=np.zeros((9, 2)))))
    print(failure(lambda: model.scale(x=np.zeros((1, 3)))))
    print(failure(lambda: model.call_raw("scale", [np.zeros((1, 2))], 2)))
    print(failure(lambda: model.call_raw("shrink", [], 0)))
    print(failure(lambda: other.load(checkpoint + ".missing")))
    print("seen", model["seen"])


if __name__ == "__main__":
    main()
