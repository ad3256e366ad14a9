"""Writes the tables of tables.graph and a case for them into the current folder."""

import json

import numpy as np

random = np.random.default_rng(0)
floats = random.normal(size=(20, 300)).astype(np.float32)
integers = random.integers(-(2**40), 2**40, size=500)
flags = random.integers(0, 2, size=777).astype(bool)
ones = np.ones(400)
x = random.normal(size=300).astype(np.float32)
arrays = {
    "floats": floats,
    "integers": integers,
    "flags": flags,
    "ones": ones,
    "x": x,
    "a": floats * x,
    "b": integers + 1,
    "c": flags.astype(np.int32),
    "d": ones * 2,
}
for name, array in arrays.items():
    np.save(name, array)
step = {"feeds": {"x": "x.npy"}, "fetches": {name: f"{name}.npy" for name in "abcd"}}
with open("case.json", "w") as file:
    json.dump({"steps": [step]}, file)
