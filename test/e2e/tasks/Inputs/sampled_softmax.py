"""sampled_softmax.py MODEL.so LIBTFCMPI FOLDER: a process of a job of two tasks with the rows of a table, and two workers.
Writes what has happened to the folder, for sampled_softmax_simulated.py."""

import os
import sys
import time

import numpy as np
from job import Failed, Job

path, library, folder = sys.argv[1:]
job = Job(library)
model = job.create(path, alone=True)
model["random.calls"] = job.task << 32  # the candidates of each worker are its own


def await_file(name):
    while not os.path.exists(os.path.join(folder, name)):
        time.sleep(0.01)


def leave(name):
    open(os.path.join(folder, name), "w").close()


def find(name):
    rows, w = model.call("find", **{"class": np.arange(1001)})
    np.savez(os.path.join(folder, name), rows=rows, w=w)


def train():
    rng = np.random.default_rng(job.task)
    log = {}
    for _ in range(30):
        n = rng.integers(1, 33)
        x, label = rng.standard_normal((n, 6)).astype(np.float32), rng.integers(0, 150, n)
        loss, step, *candidates = model.call("train", x=x, label=label)
        for kind, value in zip(("x", "label", "loss", "sampled", "expected", "label_expected"), (x, label, loss, *candidates)):
            log[f"{kind}.{step}"] = value
    np.savez(os.path.join(folder, f"log-{job.task}"), **log)
    try:
        model.call("train", x=np.zeros((2, 6)), label=[3, 1001])
        sys.exit("a class that is not in the table was found")
    except Failed as error:
        assert error.status == "out of range", error


if job.task == 2:
    find("first")
    leave("begin")
if job.task >= 2:
    await_file("begin")
    train()
    leave(f"end-{job.task}")
if job.task == 3:
    await_file("end-2")
    find("last")
model.serve()
del model
job.close()
