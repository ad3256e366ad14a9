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


def fail(n, status, part):
    before = model[own]
    try:
        model.call("step", x=np.ones(n))
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
if job.task == 2:  # comes when the others have given up
    time.sleep(4.5)
fail(1, "task lost", "step: nothing has come from /job:worker/task:2 for ")
step(7)
assert model[own] == {"a": 13, "b": 26, "c": 29}[own], model[own]
del model
job.close()
print("passed", flush=True)
