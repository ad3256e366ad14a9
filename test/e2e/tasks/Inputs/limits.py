"""limits.py MODEL.so LIBTFCMPI MODE: waits for what never comes end."""

import os
import signal
import subprocess
import sys
import time

from job import Failed, Job

path, library, mode = sys.argv[1:]
job = Job(library)
together = mode in ("together", "late", "gone")
model = job.create(path, alone=not together, task_timeout_ms=2000 if mode == "queues" else 1000)


def attempt(function, *args, **feeds):
    """Calls, and prints the result or the message of TFC_TASK_LOST."""
    begin = time.monotonic()
    try:
        text = " ".join(str(value) for value in function(*args, **feeds) or ["passed"])
    except Failed as error:
        assert error.status == "task lost", f"{error.status}: {error}"
        text = str(error)
    print(f"task {job.task}: {text}\n", end="", flush=True)
    assert time.monotonic() - begin < 10, f"task {job.task}: waited too long"


def disappear():
    """This process is killed, or stopped for long."""
    if mode in ("together", "killed"):
        os.kill(os.getpid(), signal.SIGKILL)
    subprocess.Popen(["sh", "-c", f"sleep {60 if mode == 'gone' else 8}; kill -KILL {os.getpid()}"])
    os.kill(os.getpid(), signal.SIGSTOP)


if mode == "queues":
    if job.task == 0:
        attempt(model.call, "take")
        model.call("put", x=1)
        attempt(model.call, "put", x=2)
        model.call("take")
    elif job.task == 2:
        time.sleep(6)  # the other one has ended
        attempt(model.call, "take")
        model.call("put", x=1)
        attempt(model.call, "put", x=2)
    model.serve()
    del model
    job.close()
    sys.exit()
if mode == "late":
    model.call("step")
    if job.task == 1:
        time.sleep(3)
        print("task 1 has worked for 3 s", flush=True)
    del model
    job.close()
    sys.exit()
if together:
    model.call("step")
    if job.task == 1:
        disappear()
    attempt(model.call, "step")
    if mode == "gone":
        signal.alarm(20)  # ends this process
        del model
    time.sleep(2)  # the other one hears of it
else:
    if job.task == 1:
        time.sleep(0.5)
        disappear()
    if job.task == 2:
        time.sleep(1)
        attempt(model.call, "add")
        attempt(model.call, "visit")
    attempt(model.serve)
os._exit(0)
