"""overwriting.py LIBRARY COUNTERS: calls each entry and compares it with NumPy."""

import os
import sys

import numpy as np
from counted import call

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from model import Model

library, counters = sys.argv[1:]
model = Model(library, threads=1)
random = np.random.default_rng(0)


def draw(*shape):
    return random.uniform(0.5, 1, size=shape).astype(np.float32)


def check(entry, feeds, want):
    for got, expected in zip(model.call(entry, **feeds), want):
        np.testing.assert_allclose(got, expected, rtol=5e-5, atol=1e-4, err_msg=entry)


for entry, length in [("ends", 70), ("ends_of_pieces", 1000), ("ends_of_blocks", 3001)]:
    x, z = draw(5, length), draw(5, length)
    d = np.cumsum(x, axis=0) - z
    check(entry, dict(x=x, z=z), [np.cumsum(d, axis=0), d * (d * z).sum(axis=1, keepdims=True)])

for entry, length in [("rows_of_warps", 70), ("rows_of_blocks", 3001)]:
    x, z = draw(5, length), draw(5)
    s = x.sum(axis=1) / np.cumsum(z)
    check(entry, dict(x=x, z=z), [x * s[:, None], np.cumsum(s)])
x, z = draw(5, 3001), draw(5)
s = x.sum(axis=1)
a, c = np.cumsum(z), np.cumsum(2 * z)
check("only_sums", dict(x=x, z=z), [np.cumsum(s / a)])
check("crossed", dict(x=x, z=z), [np.cumsum(a + s), np.cumsum(c * a - s)])

m, v, total = np.ones(24), np.ones(24), 0
for _ in range(2):
    x = draw(3000, 24)
    m, v = 0.75 * m + 0.25 * x.mean(axis=0), 0.75 * v + 0.25 * (x**2).mean(axis=0) * m
    check("columns", dict(x=x), [m + v])
    x = draw(50000)
    total += x.sum(dtype=np.float64)
    check("whole", dict(x=x), [total**2])

del model
x = draw(700, 256)
got, kernels = call(library, counters, "many_columns", dict(x=x))
np.testing.assert_allclose(got[0], 2 * (0.75 + 0.25 * x.mean(axis=0)), rtol=5e-5)
moved = sum(kernel["global_bytes_read"] + kernel["global_bytes_written"] for kernel in kernels)
assert moved <= 1.02 * x.nbytes, (moved / x.nbytes, kernels)
