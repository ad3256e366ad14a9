"""train.py one MODEL.so STORED: stores what one process computes.
train.py job MODEL.so STORED LIBTFCMPI: the processes of a job compare with it."""

import sys

import numpy as np
from job import Failed, Job, Model, read_own

mode, path, stored = sys.argv[1:4]
job = Job(sys.argv[4]) if mode == "job" else None
model = job.create(path) if job else Model(path, threads=1)
task = job.task if job else None
rng = np.random.default_rng(3)
fetched, failing = [], 0


def fail(entry, status, message, **feeds):
    global failing
    before = read_own(model)
    try:
        model.call(entry, **feeds)
        sys.exit(f"task {task}: a call with invalid feeds succeeded")
    except Failed as error:
        assert (error.status, str(error)) == (status, message), f"task {task}: {error.status}: {error}"
    for name, value in read_own(model).items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    failing += 1


for step in range(12):
    n = (200, 64, 3)[step % 3]
    word, label = rng.integers(0, 50, n), rng.integers(0, 10, n)
    (loss,) = model.call("train", word=word, label=label)
    fetched.append(loss)
    if step % 5 == 1:
        wrong = word.copy()
        wrong[n - 1] = 50 + step
        place = f"'gather' at train.graph:13 got index {50 + step} of axis 0 of f32[50, 24]"
        fail("train", "out of range", f"train: {place}", word=wrong, label=label)
for n in (5000, 7, 5000):
    fetched += model.call("decay", x=rng.standard_normal(n), steps=n % 17)

if not job:
    np.savez(stored, *fetched, **{f"v_{name}": value for name, value in read_own(model).items()})
    sys.exit()
expected = np.load(f"{stored}.npz")
if task == 0:
    for i, value in enumerate(fetched):
        np.testing.assert_array_equal(value, expected[f"arr_{i}"])
for name, value in read_own(model).items():
    np.testing.assert_array_equal(value, expected[f"v_{name}"], err_msg=name)
del model
job.close()
print(f"task {task}: 12 steps, {failing} failing calls", flush=True)
