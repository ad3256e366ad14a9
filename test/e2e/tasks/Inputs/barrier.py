"""barrier.py MODEL.so LIBTFCMPI FOLDER: a process of a job of a server and three workers, which meet at a barrier. A
worker writes when it has arrived at each meeting, and when it has passed it.
barrier.py check FOLDER: compares the times of the workers, who are on one machine."""

import os
import sys
import time

import numpy as np
from job import Job

ROUNDS, WORKERS = 40, (1, 2, 3)


def check(folder):
    times = np.array([np.load(os.path.join(folder, f"times-{task}.npy")) for task in WORKERS])
    arrived, passed = times[..., 0], times[..., 1]
    assert (arrived.max(axis=0) <= passed.min(axis=0)).all(), times
    waits = passed.min(axis=0) - arrived.min(axis=0)
    assert waits.max() > 0.005, waits  # the workers do not come at the same time
    print(f"{len(WORKERS)} processes have met {len(waits)} times")


def meet(task):
    rng, times = np.random.default_rng(task), []
    for number in range(ROUNDS):
        time.sleep(rng.choice([0, 0, 0.001, 0.02]))
        arrived = time.monotonic()
        if number % 4 < 2:
            model.call("arrive", round=number)
            model.call("pass", round=number)
        else:
            model.call("meet", round=number)
        times.append((arrived, time.monotonic()))
    return np.array(times)


if sys.argv[1] == "check":
    check(sys.argv[2])
    sys.exit()
path, library, folder = sys.argv[1:]
job = Job(library)
model = job.create(path, alone=True)
if job.task in WORKERS:
    np.save(os.path.join(folder, f"times-{job.task}.npy"), meet(job.task))
model.serve()
del model
job.close()
