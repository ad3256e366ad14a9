"""Uses a model whose GPU may be missing, and prints what happens: missing.py LIBRARY CHECKPOINT."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from model import Failed, Model


def attempt(name, action):
    try:
        result = action()
        print(f"{name}: {result}")
        return result
    except Failed as failure:
        print(f"{name}: {failure.status}: {failure}")


def main():
    try:
        model = Model(sys.argv[1], threads=1)
    except Failed as failure:
        return print(f"create: {failure.status}: {failure}")
    attempt("here", lambda: model.here(x=2)[0])
    attempt("there", lambda: model.there(x=2)[0])
    attempt("get", lambda: model["w"])
    attempt("set", lambda: model.__setitem__("w", np.zeros((64, 1024))))
    attempt("save", lambda: model.save(sys.argv[2]))


main()
