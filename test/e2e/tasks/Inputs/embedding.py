"""embedding.py MODEL.so LIBTFCMPI FOLDER: a process of a job of two tasks with the rows of an embedding, and two workers.
Writes what has happened to the folder, for embedding_simulated.py."""

import os
import sys
import time

import numpy as np
from job import Failed, Job

path, library, folder = sys.argv[1:]
job = Job(library)
model = job.create(path, alone=True)


def save(name, **arrays):
    np.savez(os.path.join(folder, name), **arrays)


def await_file(name):
    while not os.path.exists(os.path.join(folder, name)):
        time.sleep(0.01)


def find():
    rows, out = model.call("find", ids=np.arange(501))
    return dict(rows=rows, out=out)


def train():
    rng = np.random.default_rng(job.task)
    log = []
    for _ in range(30):
        n = rng.integers(1, 65)
        ids = rng.integers(0, 120, n)
        label = rng.integers(0, 4, n)
        loss, step = model.call("train", ids=ids, label=label)
        log.append((step, loss, ids, label))
    for wrong in (501, 503, -1):
        try:
            model.call("train", ids=[3, wrong], label=[0, 0])
            sys.exit("a word that is not in the table was found")
        except Failed as error:
            assert error.status == "out of range", error
    steps = {f"{kind}{step}": value for step, loss, ids, label in log for kind, value in
             (("loss", loss), ("ids", ids), ("label", label))}
    save(f"log-{job.task}", **steps)


if job.task == 2:
    save("first", **find())
    open(os.path.join(folder, "begin"), "w").close()
if job.task >= 2:
    await_file("begin")
    train()
    open(os.path.join(folder, f"end-{job.task}"), "w").close()
if job.task == 3:
    await_file("end-2")
    save("last", **find())
model.serve()
del model
job.close()
