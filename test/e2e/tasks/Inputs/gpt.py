"""gpt.py one WHOLE.so FOLDER: trains the GPT of the examples on one device, and stores losses and norms of gradients.
gpt.py split SPLIT.so FOLDER LIBTFCMPI: trains it on the tasks of a job, with the same variables and texts, and compares.
gpt.py stages PIPELINE.so FOLDER LIBTFCMPI: the same with a block on each task."""

import os
import sys

import numpy as np
from job import Failed, Job, Model, read_own

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "networks", "Inputs"))

import setting

mode, path, folder = sys.argv[1:4]
WIDTH, PARTS = 128, 2
whole = Model(os.path.join(folder, "whole.so"), threads=1)
prefix = "gpt.net."
shapes = {name: shape for name, (_, shape) in whole.variables.items() if setting.is_weight(name)}
weights = {name.removeprefix(prefix): value for name, value in setting.initial_weights(shapes).items()}


def parts_of(name, value):
    """The names in the divided model, with the part of the variable that each has."""
    layer = name.split(".")
    if mode == "stages":
        yield f"stack.{layer[1]}.block.{'.'.join(layer[2:])}" if layer[0] == "stack" else name, value
    elif layer[0] == "embed":
        yield name, value
    elif layer[0] != "stack" or layer[2].startswith("norm"):
        for d in range(2):
            yield f"copies.{d}.{name}", value
    elif name.endswith((".out.b", ".down.b")):  # once, with the block
        for d in range(2):
            yield f"copies.{d}.stack.{layer[1]}.{layer[3] if layer[2] == 'attend' else layer[2]}", value
    else:
        part = "attend" if layer[2] == "attend" else "think"
        last = ".".join(layer[3:] if part == "attend" else layer[2:])
        for d in range(2):
            for t in range(PARTS):
                yield f"copies.{d}.stack.{layer[1]}.{part}.{t}.{last}", part_of(name, value, t)


def part_of(name, value, t):
    if ".qkv." in name:  # queries, keys and values of the heads
        value = value.reshape(-1, 3, PARTS, WIDTH // PARTS)[:, :, t].reshape(-1, 3 * WIDTH // PARTS)
        return value if name.endswith("w") else value[0]
    return np.split(value, PARTS, axis=-1 if ".up." in name else 0)[t]


job = Job(sys.argv[4]) if mode != "one" else None
model = job.create(path) if job else whole
for name, value in weights.items():
    for own, part in parts_of(name, value) if job else [(prefix + name, value)]:
        try:
            model[own] = part
        except Failed as error:
            assert job and "is in another process" in str(error), (own, error)
got = np.array([model.call("train", **feeds) for feeds in setting.batches("gpt")])
stored = os.path.join(folder, "losses.npy")
if not job:
    np.save(stored, got)
    sys.exit()
if job.task == 0:
    worst = np.abs(np.load(stored) - got)
    assert len(got) == 50 and worst[:, 0].max() < 1e-4, worst
    np.testing.assert_allclose(got[:, 1], np.load(stored)[:, 1], rtol=1e-3)
    print(f"{len(got)} losses from {got[0, 0]:.3f} to {got[-1, 0]:.3f} agree within 1e-4 ({worst[:, 0].max():.1e})", flush=True)
if mode == "split":
    np.savez(os.path.join(folder, f"task-{job.task}"), **read_own(model))
del model
job.close()
if mode == "split" and job.task == 0:
    copies = [{}, {}]
    for task in range(4):
        for name, value in np.load(os.path.join(folder, f"task-{task}.npz")).items():
            for d in range(2):
                if name.startswith(f"copies.{d}.") and "opt." not in name:
                    copies[d][name[9:]] = value
    assert copies[0].keys() == copies[1].keys() and len(copies[0]) == 58, len(copies[0])
    for name, value in copies[0].items():
        np.testing.assert_array_equal(value, copies[1][name])
    print("the copies are equal", flush=True)
