"""Writes a case for queue.mlir into the current folder: a later step takes out the elements that one puts in."""

import json

import numpy as np

x = np.arange(12, dtype=np.float32).reshape(4, 3) / 10
y = np.array([1, -1, 2, 0], np.float32)
w = np.zeros(3, np.float32)
losses = []
for _ in range(2):
    error = x @ w - y
    losses.append(np.float32(np.sum(error * error)))
    w = w - np.float32(0.05) * 2 * error @ x

arrays = {"x": x, "y": y, "loss0": losses[0], "loss1": losses[1], "n": np.int64(7), "size": np.int32(3)}
arrays |= {"p": np.int64(9), "q": np.int64(-2), "bits": np.array([True, False])}
arrays |= {"one": np.int32(1), "two": np.int32(2), "none": np.zeros((4, 2), bool)}
arrays |= {"left": np.array([-2, 9, 0, 0], np.int64)}
arrays["both"] = np.array([[True, False], [True, False], [False, False], [False, False]])
for name, array in arrays.items():
    np.save(name, array)


def step(entry, feeds, fetches):
    return {
        "entry": entry,
        "feeds": {name: f"{array}.npy" for name, array in feeds.items()},
        "fetches": {name: f"{array}.npy" for name, array in fetches.items()},
    }


steps = [
    step("produce", {"x": "x", "y": "y"}, {}),
    step("produce", {"x": "x", "y": "y"}, {}),
    step("train", {}, {"loss": "loss0"}),
    step("train", {}, {"loss": "loss1"}),
    step("count", {"n": "n"}, {"waiting": "size"}),
    step("submit", {"priority": "p", "bits": "bits"}, {"waiting": "one"}),
    step("submit", {"priority": "q", "bits": "bits"}, {"waiting": "two"}),
    step("finish", {}, {"number": "two", "priority": "left", "bits": "both"}),
]
with open("good.json", "w") as file:
    json.dump({"steps": steps}, file)
with open("empty.json", "w") as file:
    json.dump({"steps": [step("train", {}, {"loss": "loss0"})]}, file)
