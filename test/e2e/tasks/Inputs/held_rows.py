"""held_rows.py MODEL.so [LIBTFCMPI]: trains one network in one call for each step and another one in two, and compares
them, in one process or from the worker of a job."""

import sys

import numpy as np
from job import Failed, Job, Model

STEPS, ROWS = 20, 1000
job = Job(sys.argv[2]) if len(sys.argv) > 2 else None
model = job.create(sys.argv[1], alone=True) if job else Model(sys.argv[1], threads=1)


def batch_of(rng, n, words):
    return dict(pairs=rng.integers(0, words, (n, 2)), ids=rng.integers(0, words, n), label=rng.integers(0, 4, n))


def train():
    model.call("start")
    before, _ = model.call("compare")
    rng = np.random.default_rng(5)
    for _ in range(STEPS):
        # Of 25 words no call has more than 40 distinct ones, however often it reads them.
        batch = batch_of(rng, rng.integers(1, 31), 25)
        (expected,), (loss,) = model.call("train", **batch), model.call("compute_held", **batch)
        assert loss == expected, (loss, expected)
        model.call("apply_held")
    after, different = model.call("compare")
    assert different == 0, different
    changed = (before != after).any(axis=1)
    assert changed[:25].all() and not changed[25:].any(), np.flatnonzero(changed)
    held = [np.prod(shape) for name, (_, shape) in model.variables.items() if name.startswith("held.")]
    assert len(held) > 4 and max(held) < ROWS, held
    print(f"{STEPS} steps have the same bits, at most {max(held)} elements are held")
    try:
        model.call("compute_held", **batch_of(rng, 30, ROWS))
        sys.exit("too many rows were held")
    except Failed as error:
        assert error.status == "out of range", error
        print(error, flush=True)
    model.call("apply_held")  # the gradient of the last step, once more


if job is None or job.task == 2:
    train()
if job:
    model.serve()
del model
if job:
    job.close()
