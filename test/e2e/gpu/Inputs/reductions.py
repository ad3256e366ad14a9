"""reductions.py LIBRARY COUNTERS: compares each entry on the emulated GPU with NumPy, and counts launches."""

import sys

import numpy as np
from counted import Model, call

library, counters = sys.argv[1:]
random = np.random.default_rng(0)


def normal(*shape):
    return random.normal(size=shape).astype(np.float32)


def check(entry, feeds, want, launches=None, rtol=2e-5, atol=1e-3):
    got, kernels = call(library, counters, entry, feeds)
    for value, expected in zip(got, want, strict=True):
        np.testing.assert_allclose(value, expected, rtol=rtol, atol=atol if value.dtype.kind == "f" else 0, err_msg=entry)
    # The broadcast makes the variable's initial value.
    names = [kernel["kernel"] for kernel in kernels if "broadcast" not in kernel["kernel"]]
    assert launches is None or len(names) == launches, (entry, names)


def wide(x):
    return x.astype(np.float64)


x = normal(300, 1000)
check("total", dict(x=x), [wide(x).sum(), x.max(), (wide(x) ** 2).mean()])
x = normal(40000, 24)
check("columns", dict(x=x), [wide(x).sum(axis=0), 2 * x])
x = normal(5, 70000)
factors = (np.float32(1) + x / np.float32(65536)).astype(np.float64)
check("rows", dict(x=x), [wide(x).sum(axis=1), factors.prod(axis=1)])
for n in 0, 1, 5, 3000, 40000:
    x = normal(n, 7)
    check("dynamic", dict(x=x), [wide(x).sum(axis=0), wide(x).sum()])
x = normal(50000)
check("flags", dict(x=x), [True, False, (x > 0).sum()])
x[49999] = 200
check("flags", dict(x=x), [False, True, (x > 0).sum()])
x = random.normal(size=50001)
check("wide", dict(x=x), [x.sum(), x.min()], rtol=1e-12, atol=1e-9)
x = normal(4, 70000).astype(np.float16)
check("half", dict(x=x), [x.max(axis=1)])
x = normal(8, 32, 32, 16)
d = wide(x) - wide(x).mean(axis=(0, 1, 2))
v = (d**2).mean(axis=(0, 1, 2))
check("normalized", dict(x=x), [d / np.sqrt(v + 1e-5), v])
x = normal(64, 4, 32, 32)
check("around", dict(x=x), [wide(x).sum(axis=(0, 2, 3))], launches=2)
for n in 0, 1, 100:
    x = normal(n, 4, 28, 28)
    check("around_dynamic", dict(x=x), [wide(x).sum(axis=(0, 2, 3))])
x = normal(4, 70000)
e = np.exp(wide(x) - x.max(axis=1, keepdims=True))
check("soft", dict(x=x), [e / e.sum(axis=1, keepdims=True)], atol=1e-9)
x = normal(3, 70000)
on_device, state = Model(library, threads=1), np.ones((3, 70000))
for _ in range(2):
    m, = on_device.call("centre", x=x)
    np.testing.assert_allclose(m, state.mean(axis=1), rtol=2e-5, atol=1e-5)
    state += x - state.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(on_device["state"], state, rtol=2e-5, atol=2e-5)
del on_device
x = normal(30000)
check("first", dict(x=x), [x.argmax()])
x, b = normal(20000, 8), normal(8)
check("biased", dict(x=x, b=b), [np.maximum(wide(x).sum(axis=0) + b, 0)], launches=2)
