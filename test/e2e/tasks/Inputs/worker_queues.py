"""worker_queues.py MODEL.so LIBTFCMPI: a process of a job of one task with variables and queues, which updates and compares them
with a simulation, and three workers."""

import sys
import time

import numpy as np
from batches import batch_of, gradient
from job import Failed, Job

STEPS, WORKERS = 30, 3
job = Job(sys.argv[2])
model = job.create(sys.argv[1], alone=True)


def number_of(step, worker):
    return 1000 * worker + step


def compute(worker):
    while True:
        try:
            (step,) = model.call("begin", worker=worker)
        except Failed as error:
            assert error.status == "closed", error
            return
        x, label = batch_of(number_of(step, worker))
        time.sleep(0.002 * worker)
        model.call("push", x=x, label=label, worker=worker)


def update():
    w = model["w"].astype(np.float64)
    start = w
    for step in range(STEPS):
        model.call("release", step=step)
        model.call("update")
        w = w - 0.1 * np.mean([gradient(w, number_of(step, worker)) for worker in range(WORKERS)], axis=0)
        np.testing.assert_allclose(model["w"], w, rtol=2e-5, atol=2e-6)
    assert np.abs(w - start).max() > 0.05
    model.call("finish")
    print(f"{STEPS} steps of {WORKERS} gradients agree", flush=True)


if job.task == 0:
    update()
else:
    compute(job.task - 1)
model.serve()
del model
job.close()
