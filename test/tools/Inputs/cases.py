"""Writes cases for the model copy.mlir, and their arrays, into the current folder."""

import json

import numpy as np

arrays = {
    "x": np.array([[0, 1], [2, np.nan]], np.float32),
    "doubled": np.array([[0, 2], [4, np.nan]], np.float32),
    "nearly": np.array([[0.01, 2], [4.05, np.nan]], np.float32),
    "narrow": np.zeros((1, 2), np.float32),
    "forty-two": np.array(42, np.int32),
    "forty-three": np.array(43, np.int32),
}
for name, array in arrays.items():
    np.save(name, array)


def twice(expected, **more):
    return {"entry": "twice", "feeds": {"x:0": "x.npy"}, "fetches": {"double": expected}, **more}


def count(expected):
    return {"entry": "count", "feeds": {}, "fetches": {"return": expected}}


cases = {
    "good": {
        "init": ["count"],
        "steps": [twice("doubled.npy"), count("forty-two.npy"), count("forty-three.npy")],
    },
    "loose": {"steps": [twice("nearly.npy", rtol=0, atol=0.1, targets=["count"])]},
    "close": {"steps": [twice("nearly.npy")]},
    "integer": {"steps": [count("forty-two.npy")]},
    "shape": {"steps": [twice("narrow.npy")]},
    "feed": {"steps": [{"entry": "twice", "feeds": {}, "fetches": {}}]},
    "fetch": {"steps": [{"entry": "twice", "feeds": {"x": "x.npy"}, "fetches": {"z": "x.npy"}}]},
    "form": {"step": []},
}
for name, case in cases.items():
    with open(f"{name}.json", "w") as file:
        json.dump(case, file)
