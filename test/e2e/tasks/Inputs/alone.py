"""alone.py MODEL.so LIBTFCMPI FOLDER asynchronous
alone.py MODEL.so LIBTFCMPI FOLDER synchronous GRADIENTS: a process of a job of two tasks with variables and queues, and
three workers. Writes what has happened to the folder, for simulated.py."""

import os
import sys

import numpy as np
from batches import batch_of
from job import Failed, Job

path, library, folder, scheme = sys.argv[1:5]
STEPS, WORKERS = 30, 3
job = Job(library)
model = job.create(path, alone=True)
log = []


def numbers():
    """The numbers of the batches of this worker."""
    number = 1000 * job.task
    while True:
        yield number
        number += 1


def train():
    for _, number in zip(range(40), numbers()):
        x, label = batch_of(number)
        (seen,) = model.call("compute", x=x, label=label)
        (updates,) = model.call("apply")
        log.append((number, seen, updates))


def compute():
    for number in numbers():
        try:
            (step,) = model.call("begin")
        except Failed as error:
            assert error.status == "closed", error
            return
        x, label = batch_of(number)
        model.call("push", x=x, label=label, step=step, batch=number)


def update(gradients):
    for step in range(STEPS):
        model.call("release", step=step, count=WORKERS)
        batches, number = model.call("update", count=gradients)
        assert number == step + 1
        log.append(batches[-gradients:])
    model.call("finish")


if job.task == 1:
    np.save(os.path.join(folder, "first.npy"), model["w"])
if scheme == "asynchronous" and job.task >= 2:
    train()
elif scheme == "synchronous" and job.task >= 2:
    compute()
elif scheme == "synchronous" and job.task == 0:
    update(int(sys.argv[5]))
np.save(os.path.join(folder, f"log-{job.task}.npy"), np.array(log, np.int64))
model.serve()
if job.task == 1:
    np.save(os.path.join(folder, "last.npy"), model["w"])
del model
job.close()
