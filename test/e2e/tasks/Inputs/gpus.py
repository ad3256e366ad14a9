"""gpus.py MODEL.so VALUES.npz [LIBTFCMPI]: trains on the GPUs of two tasks, and saves losses and variables of one process
that has both GPUs, or compares those of this task with them."""

import sys

import numpy as np
from job import Job, Model, read_own


def train(model):
    losses = []
    for step in range(12):
        rng = np.random.default_rng(step)
        x = rng.standard_normal((2 * (1 + step), 16), dtype=np.float32)
        losses.append(model.call("train", x=x, label=np.argmax(x[:, :4], 1).astype(np.int32))[0])
    return np.array(losses)


if len(sys.argv) == 3:
    model = Model(sys.argv[1])
    np.savez(sys.argv[2], losses=train(model), **{name: model[name] for name in model.variables})
    sys.exit()
job = Job(sys.argv[3])
model = job.create(sys.argv[1], task_timeout_ms=60000)
expected = np.load(sys.argv[2])
losses, own = train(model), read_own(model)
if job.task == 0:  # others have no fetches of their own
    np.testing.assert_array_equal(losses, expected["losses"])
own = {name: value for name, value in own.items() if not name.startswith("random")}
for name, value in own.items():
    np.testing.assert_array_equal(value, expected[name])
print(f"task {job.task}: {len(losses)} losses and {len(own)} variables have the same bits", flush=True)
del model
job.close()
