"""alone_faults.py MODEL.so LIBTFCMPI CALLER: process number CALLER makes calls that fail, and others in between."""

import sys
import threading
import time

from job import Failed, Job

path, library, caller = sys.argv[1:]
job = Job(library)
model = job.create(path, alone=True, task_timeout_ms=20000)


def fail(handle, entry, status, message, **feeds):
    begin = time.monotonic()
    try:
        handle.call(entry, **feeds)
        sys.exit(f"{entry} succeeded")
    except Failed as error:
        assert error.status == status and message in str(error), f"{error.status}: {error}"
    assert time.monotonic() - begin < 10, f"{entry} failed only after a timeout"


if job.task == int(caller):
    for i in range(20):
        fail(model, "pick", "invalid argument", "n % 2 == 0", i=[1, 2, 3])
        fail(model, "pick", "out of range", "got index 10 of axis 0 of f32[10, 4]", i=[1, 10])
        y, count = model.call("pick", i=[1, 2])
        assert count == i + 1 and (y == 1).all()
        # A handle that only waits, in a first call of it.
        waiting = model.fork()
        threading.Timer(0.05 * (i % 2), waiting.cancel).start()
        fail(waiting, "take", "cancelled", "the wait at queue 'q' was cancelled")
        fail(waiting, "take", "cancelled", "the wait at queue 'q' was cancelled")
        del waiting
        model.call("put", x=i)
        assert model.call("take") == [i]
    model.serve()
    fail(model, "pick", "failed precondition", "pick: a process makes no calls after 'serve'", i=[1, 2])
    print("20 rounds passed", flush=True)
else:
    model.serve()
    assert model["calls"] == 20
del model
job.close()
