"""Writes small files of datasets: rows.py FOLDER."""

import json
import os
import sys

import numpy as np

sys.path.insert(0, f"{__file__.rsplit('/', 3)[0]}/e2e/data/Inputs")
import tfrecord

folder = sys.argv[1]
os.makedirs(folder)
x = np.array([[0.5, -1, 2e9], [1, 2, 3], [np.inf, -0.0, 4]], np.float32)
k = np.array([7, -300, 32767], np.int16)
b = np.array([[True, False, True], [False] * 3, [True] * 3])
with open(f"{folder}/rows.csv", "w") as file:
    for i in range(3):
        file.write(",".join([*map(str, x[i]), f'"{k[i]}"', *map(str, b[i])]) + "\r\n")
with open(f"{folder}/rows.tfrecord", "wb") as file:
    for i in range(3):
        example = tfrecord.example(
            {
                "b": tfrecord.strings([b[i].tobytes()]) if i == 0 else tfrecord.integers([int(v) for v in b[i]]),
                "k": tfrecord.integers([int(k[i])], packed=i == 1),
                "x": tfrecord.floats(list(x[i]), packed=i == 2),
            }
        )
        file.write(tfrecord.record(example))
        with open(f"{folder}/{i}.example", "wb") as single:
            single.write(example)
header = {
    "x": {"dtype": "F32", "shape": [3, 3], "data_offsets": [0, 36]},
    "k": {"dtype": "I16", "shape": [3], "data_offsets": [36, 42]},
    "b": {"dtype": "BOOL", "shape": [3, 3], "data_offsets": [42, 51]},
}
text = json.dumps(header).encode()
with open(f"{folder}/rows.safetensors", "wb") as file:
    file.write(len(text).to_bytes(8, "little") + text + x.tobytes() + k.tobytes() + b.tobytes())
