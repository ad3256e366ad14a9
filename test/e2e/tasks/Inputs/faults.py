"""faults.py MODEL.so LIBTFCMPI MODE: calls that fail between processes."""

import os
import signal
import sys
import time

import numpy as np
from job import Failed, Job

path, library, mode = sys.argv[1:]
job = Job(library)
try:
    model = job.create(path, task_timeout_ms=3000)
except Failed as error:
    sys.exit(f"{error}")
own = "abc"[job.task]


def fail(n, status, part, entry="step"):
    before = model[own]
    try:
        model.call(entry, x=np.ones(n))
        sys.exit(f"task {job.task}: a call succeeded")
    except Failed as error:
        assert error.status == status and part in str(error), f"task {job.task}: {error.status}: {error}"
    assert model[own] == before


def step(n):
    (y,) = model.call("step", x=np.ones(n))
    assert job.task != 0 or y == 2 * n + 1, y


step(4)
if mode == "die":
    if job.task == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    step(4)
    sys.exit("the call passed")
fail(3 if job.task == 1 else 2, "invalid argument", "step: n is ")
step(2)
# Sizes differ in a call in which nothing else could fail.
fail(5 if job.task == 2 else 6, "invalid argument", "loose: n is ", "loose")
# A call by name fails on its feeds in one process.
before = model[own]
feeds = np.ones((2, 2) if job.task == 1 else 2, np.float32)
try:
    model.call_into("step", [feeds], [np.zeros((), np.float32)])
    sys.exit("a call succeeded")
except Failed as error:
    assert error.status == "invalid argument" and "has shape [2, 2]" in str(error), error
assert model[own] == before
# One process alone has a check, and no other waits for it.
try:
    model.call("pick", x=np.ones(4), i=np.array([0, 9]))
    sys.exit("a call succeeded")
except Failed as error:
    assert error.status == "out of range" and "got index 9" in str(error), error
(y,) = model.call("pick", x=np.arange(4), i=np.array([3, 1]))
assert job.task != 0 or (y == [6, 2]).all(), y
if job.task == 2:  # comes when the others have given up
    time.sleep(4.5)
fail(1, "task lost", "step: nothing has come from /job:worker/task:2 for ")
step(7)
assert model[own] == {"a": 13, "b": 26, "c": 29}[own], model[own]
del model
job.close()
print("passed", flush=True)
