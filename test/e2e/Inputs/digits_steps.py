"""digits_steps.py FOLDER: writes three steps of training the digits as a recorded case."""

import json
import os
import sys

import numpy as np

folder, random, steps = sys.argv[1], np.random.default_rng(0), []
os.makedirs(folder, exist_ok=True)
for step in range(3):
    feeds = {"x": random.random((32, 64)).astype(np.float32),
             "label": random.integers(0, 10, size=32).astype(np.int32)}
    for name, value in feeds.items():
        np.save(os.path.join(folder, f"{step}.{name}.npy"), value)
    steps.append({"entry": "train", "feeds": {name: f"{step}.{name}.npy" for name in feeds},
                  "fetches": {}})
with open(os.path.join(folder, "case.json"), "w", encoding="utf-8") as file:
    json.dump({"steps": steps}, file)
