"""scans.py LIBRARY COUNTERS: compares scans on the emulated GPU with NumPy, and counts launches."""

import sys

import numpy as np
from counted import call

library, counters = sys.argv[1:]
random = np.random.default_rng(0)


def normal(*shape):
    return random.normal(size=shape).astype(np.float32)


def check(entry, feeds, want, launches=None, rtol=1e-5, atol=1e-3):
    got, kernels = call(library, counters, entry, feeds)
    for value, expected in zip(got, want, strict=True):
        value = np.asarray(value)
        if value.dtype.kind == "f":
            np.testing.assert_allclose(value.astype(np.float64), expected, rtol=rtol, atol=atol, err_msg=entry)
        else:
            np.testing.assert_array_equal(value, expected, err_msg=entry)
    assert launches is None or len(kernels) == launches, (entry, [kernel["kernel"] for kernel in kernels])


def total(x, axis, dtype=np.float64):
    return np.cumsum(x, axis=axis, dtype=dtype)


x = normal(300001)
check("long", dict(x=x), [total(x, 0)], launches=2, atol=5e-3)
x = normal(3, 20001)
check("long_reverse", dict(x=x), [total(x[:, ::-1], 1)[:, ::-1] - x], launches=2)
x = normal(5, 2500)
check("blocks", dict(x=x), [2 * total(x, 1), np.maximum.accumulate(x, axis=1)])
x = normal(40, 300)
check("warps", dict(x=x), [total(x, 1) - x], launches=1)
x = normal(3, 2000, 7)
check("columns", dict(x=x), [total(x, 1)], launches=1)
x = normal(9, 20000)
check("threads", dict(x=x), [total(x, 0)], launches=1)
for length in [1, 5, 1024, 1025, 140000]:
    x = normal(length)
    check("dynamic", dict(x=x), [total(x, 0), np.minimum.accumulate(x[::-1])[::-1]])
check("dynamic", dict(x=normal(0)), [np.zeros(0), np.zeros(0)])
for shape in [(3, 1), (2, 777), (0, 5)]:
    x = normal(*shape)
    check("rows", dict(x=x), [np.cumprod(1 + np.float32(0.01) * x, axis=1, dtype=np.float64)])
x, b = random.integers(-(2**31), 2**31, 70000).astype(np.int32), random.integers(0, 200, 3000).astype(np.uint8)
check("numbers", dict(x=x, b=b), [np.cumsum(x, dtype=np.int32), np.maximum.accumulate(b[::-1])[::-1]])
x = normal(6000).astype(np.float16)
check("half", dict(x=x), [total(x, 0), np.maximum.accumulate(x)], rtol=2e-3, atol=0.06)
x = random.normal(size=50000)
check("wide", dict(x=x), [total(x, 0), np.log(total(np.exp(x), 0))], rtol=1e-11, atol=1e-9)
x = normal(2, 9000)
check("logarithm", dict(x=x), [np.log(total(np.exp(x.astype(np.float64)), 1))], atol=1e-5)
a, b = random.uniform(0, 1, (6, 500)).astype(np.float32), normal(6, 500)
want, last = [], np.zeros(6)
for i in range(500):
    last = a[:, i] * last + b[:, i]
    want.append(last)
check("recurrence", dict(a=a, b=b), [np.stack(want, axis=1)], launches=1)
# A NaN is in all later sums and extremes.
x = normal(3000)
x[1500] = np.nan
(y, m), _ = call(library, counters, "dynamic", dict(x=x))
assert np.array_equal(np.isnan(y), np.arange(3000) >= 1500) and np.array_equal(np.isnan(m), np.arange(3000) <= 1500)
