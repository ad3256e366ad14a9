"""example.py MODEL.so OUTPUT: compares the losses of the program with those of the library in one process."""

import os
import re
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from model import Model

ROWS, FEATURES, BATCH = 512, 16, 64
state, rows = 1, np.zeros((ROWS, FEATURES), np.float32)
for i in range(ROWS):
    for j in range(FEATURES):
        state = (state * 1664525 + 1013904223) % 2**32
        rows[i, j] = np.float32(state >> 8) / np.float32(8388608.0) - np.float32(1.0)
labels = (rows[:, :9] > 0).sum(1)

model = Model(sys.argv[1], threads=1)
losses = []
for step in range(400):
    first = step * BATCH % ROWS
    (loss,) = model.call("train", x=rows[first : first + BATCH], label=labels[first : first + BATCH])
    if step % 50 == 49:
        losses.append(f"{loss:.4f}")
with open(sys.argv[2]) as file:
    printed = re.findall(r"step \d+: loss ([0-9.]+)", file.read())
assert printed == losses, (printed, losses)
print(f"{len(losses)} losses agree")
