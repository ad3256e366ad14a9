"""parallel.py one WHOLE.so FOLDER: trains a transformer on one device, with the variables of `given`, and stores the losses.
parallel.py job SPLIT.so FOLDER LIBTFCMPI PARTS: trains it on the tasks of a job, each of which has one of PARTS of the
heads and of the hidden values, and compares the losses."""

import os
import sys

import numpy as np
from job import Failed, Job, Model

mode, path, folder = sys.argv[1:4]
STEPS, WIDTH = 50, 32
PARTS = 1 if mode == "one" else int(sys.argv[5])
rng = np.random.default_rng(5)


def matrix(rows, columns):
    return rng.normal(0, rows**-0.5, (rows, columns))


given = {"embed.table": matrix(64, WIDTH), "place.table": matrix(16, WIDTH), "head.w": matrix(WIDTH, 64)}
for i in range(2):
    given[f"stack.{i}.attend.qkv.w"] = matrix(WIDTH, 3 * WIDTH)
    given[f"stack.{i}.attend.out.w"] = matrix(WIDTH, WIDTH)
    given[f"stack.{i}.think.up.w"] = matrix(WIDTH, 4 * WIDTH)
    given[f"stack.{i}.think.down.w"] = matrix(4 * WIDTH, WIDTH)


def part_of(name, value, t):
    """The part of a variable on task `t`."""
    if name.endswith("qkv.w"):
        parts = value.reshape(WIDTH, 3, PARTS, WIDTH // PARTS)  # queries, keys and values of the heads
        return parts[:, :, t].reshape(WIDTH, -1)
    if name.endswith("up.w"):
        return np.split(value, PARTS, axis=1)[t]
    return np.split(value, PARTS)[t]


def names_of(model, prefix):
    """The variables as `given` has them, with the number of a part in place of that of the whole."""
    for name, value in given.items():
        layer = name.split(".")
        if layer[0] != "stack":
            yield f"{prefix}.{name}", value
            continue
        for t in range(PARTS):
            own = ".".join(layer[:3] + [str(t)] + layer[3:])
            yield f"{prefix}.{own}", part_of(name, value, t)


job = Job(sys.argv[4]) if mode == "job" else None
model = job.create(path) if job else Model(path, threads=1)
for name, value in names_of(model, "copies.0" if job else "net"):
    try:
        model[name] = value
    except Failed as error:
        assert job and "is in another process" in str(error), (name, error)
if job:
    model.call("start")
losses = []
for step in range(STEPS):
    tokens = (np.arange(16) * rng.integers(1, 4, (8, 1)) + rng.integers(0, 64, (8, 1))) % 64
    losses.append(model.call("train", tokens=tokens)[0])
stored = os.path.join(folder, "losses.npy")
if not job:
    np.save(stored, losses)
    assert losses[-1] < 0.6 * losses[0], losses
elif job.task == 0:
    worst = np.abs(np.load(stored) - losses).max()
    assert worst < 1e-4, worst
    print(f"{STEPS} losses from {losses[0]:.3f} to {losses[-1]:.3f} agree within 1e-4")
del model
if job:
    job.close()
