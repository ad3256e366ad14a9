"""divided_updates.py MODEL.so [LIBTFCMPI]: trains copies of a network whose slots are divided and copies that have all
slots, and compares them bit for bit, in one process or in a job."""

import sys

import numpy as np
from job import Job, Model, read_own

STEPS = 12
job = Job(sys.argv[2]) if len(sys.argv) > 2 else None
model = job.create(sys.argv[1]) if job else Model(sys.argv[1], threads=1)
is_first = job is None or job.task == 0
model.call("start_whole")
model.call("start")
before, rng = read_own(model), np.random.default_rng(5)
for _ in range(STEPS):
    n = 3 * rng.integers(1, 21)
    batch = dict(word=rng.integers(0, 31, n), label=rng.integers(0, 5, n))
    losses = [model.call(entry, **batch)[0] for entry in ("train_whole", "train")]
    assert not is_first or losses[0] == losses[1], losses
own = read_own(model)
compared = [name for name in own if name.startswith("copies.")]
assert len(compared) == (9 if job else 27), compared
for name in compared:
    np.testing.assert_array_equal(own[name], own[name.replace("copies.", "whole.")], err_msg=name)
    assert (own[name] != before[name]).any(), name


def count_elements(start):
    return sum(np.size(own[name]) for name in own if name.startswith(start) and "/" in name)


part = count_elements("opt.") / count_elements("opts.")
if is_first:
    print(f"{STEPS} steps have the same bits, with {part:.2f} of the slots", flush=True)
del model
if job:
    job.close()
