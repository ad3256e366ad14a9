"""Trains 20 steps and saves after 10, or loads that and makes the last 10, in a job or in one process."""

import sys

import numpy as np

sys.path[:0] = [f"{__file__.rsplit('/', 3)[0]}/Inputs", __file__.rsplit("/", 1)[0]]
from model import Model

library, folder, mode = sys.argv[1:4]
if len(sys.argv) > 4:
    from job import Job, read_own

    job = Job(sys.argv[4])
    model, task = job.create(library), job.task
    own = lambda: read_own(model)
else:
    model, task = Model(library), 0
    own = lambda: {name: model[name] for name in model.variables}


def train(first, last):
    losses = []
    for step in range(first, last):
        rng = np.random.default_rng(step)
        ids, label = rng.integers(0, 101, 48).astype(np.int32), rng.integers(0, 13, 48).astype(np.int32)
        losses.append(model.train(ids=ids, label=label)[0])
    return losses


path = f"{folder}/w.safetensors"
if mode == "save":
    losses = train(0, 10)
    model.save(path)
    losses += train(10, 20)
    np.savez(f"{folder}/task-{task}.npz", **own())
    if task == 0:
        np.save(f"{folder}/losses.npy", losses)
        print(f"{len(losses)} losses, saved after 10", flush=True)
else:
    model.load(path)
    losses = train(10, 20)
    if task == 0:
        assert np.array_equal(losses, np.load(f"{folder}/losses.npy")[10:])
        print(f"{len(losses)} losses agree", flush=True)
    values = own()
    expected = {}
    for number in range(4):
        expected.update(np.load(f"{folder}/task-{number}.npz"))
    assert all(np.array_equal(value, expected[name]) for name, value in values.items())
    if task == 0:
        print(f"{len(values)} variables agree", flush=True)
del model
if len(sys.argv) > 4:
    job.close()
