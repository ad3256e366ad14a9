"""bundles.py CPU_LIBRARY GPU_LIBRARY COUNTERS: compares results and variables of both, and counts functions."""

import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
from model import Model

cpu_library, gpu_library, counters = sys.argv[1:]
os.environ["TFC_EMULATED_COUNTERS"] = counters
cpu, gpu = Model(cpu_library, threads=1), Model(gpu_library, threads=1)
random = np.random.default_rng(0)
for _ in range(3):
    feeds = [("train", dict(x=np.float32(random.normal()))), ("chain", dict(x=random.normal(size=100).astype(np.float32)))]
    for entry, values in feeds:
        for got, expected in zip(gpu.call(entry, **values), cpu.call(entry, **values), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6, err_msg=entry)
for name in cpu.variables:
    np.testing.assert_allclose(gpu[name], cpu[name], rtol=1e-5, atol=1e-6, err_msg=name)
count = len(gpu.variables)
del gpu
with open(counters) as file:
    kernels = [json.loads(line)["kernel"] for line in file]
# 21 variables with two slots each: 63 updates, all of which are in one kernel, with Adam's factors.
updates = [kernel for kernel in kernels if "_cast_" in kernel]
assert count >= 65 and 1 <= len(updates) <= 3, (count, updates)
