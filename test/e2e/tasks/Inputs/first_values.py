"""first_values.py MODEL.so VALUES.npz [LIBTFCMPI]: saves the initial values of a process that has all devices, or compares
those of this task with them."""

import re
import sys

import numpy as np
from job import Job, Model, read_own

if len(sys.argv) == 3:
    model = Model(sys.argv[1])
    np.savez(sys.argv[2], *model.call("sums"), **{name: model[name] for name in model.variables})
    sys.exit()
job = Job(sys.argv[3])
model = job.create(sys.argv[1])
expected = np.load(sys.argv[2])
own = read_own(model)
for name, value in own.items():
    np.testing.assert_array_equal(value, expected[name])
sums = model.call("sums")
if job.task == 0:
    for i, value in enumerate(sums):
        assert value == expected[f"arr_{i}"], (i, value)
names = sorted(re.sub(r"\.\d", "", name) for name in own if not name.startswith("random"))
print(f"task {job.task}: {' '.join(names)}", flush=True)
del model
job.close()
