"""copies.py CPU_LIBRARY GPU_LIBRARY COUNTERS: compares both, and looks for the function that copies."""

import sys

import numpy as np
from counted import Model, call

cpu, gpu, counters = sys.argv[1:]
random = np.random.default_rng(0)
on_cpu = Model(cpu, threads=1)


def check(entry, feeds):
    got, kernels = call(gpu, counters, entry, feeds)
    for value, expected in zip(got, on_cpu.call(entry, **feeds), strict=True):
        np.testing.assert_allclose(value, expected, rtol=2e-3 if value.dtype == np.float16 else 1e-5, atol=1e-5)
    return {kernel["kernel"] for kernel in kernels}


feeds = {name: random.normal(size=(20, size)).astype(dtype) for name, size, dtype in
         [("x", 16, np.float32), ("y", 3, np.float32), ("z", 5, np.float16)]}
kernels = check("loop", feeds)
assert "tfc_copies" in kernels, kernels
for n in 0, 1, 2, 7:
    check("turn", dict(n=np.int32(n), x=random.normal(size=5).astype(np.float32), y=random.normal(size=5).astype(np.float32)))
