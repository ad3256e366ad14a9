"""efficiency.py LIBRARY COUNTERS: calls each entry on the emulated GPU, compares it with NumPy, and the bytes that its
kernels move with those of its feeds and fetches."""

import math
import sys

import numpy as np
from counted import call

library, counters = sys.argv[1:]
random = np.random.default_rng(0)


def normal(*shape):
    return random.normal(size=shape).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


def centred(x):
    d = x - x.mean(axis=1, keepdims=True)
    return d / np.sqrt((d**2).mean(axis=1, keepdims=True) + 1e-5)


def loss(x, label):
    p = softmax(x)
    hot = np.eye(x.shape[1])[label]
    return -np.log((p * hot).sum(axis=1)), p - hot


def check(entry, feeds, want, limit, atol=1e-6):
    got, kernels = call(library, counters, entry, feeds)
    for value, expected in zip(got, want):
        np.testing.assert_allclose(value, expected, rtol=2e-3 if value.dtype == np.float16 else 2e-5, atol=atol)
    least = sum(value.nbytes for value in [*feeds.values(), *got])
    moved = sum(kernel["global_bytes_read"] + kernel["global_bytes_written"] for kernel in kernels)
    sectors = 32 * sum(kernel["global_sectors"] for kernel in kernels)
    assert max(moved, sectors) <= limit * least, (entry, moved / least, sectors / least, kernels)
    assert sum(kernel["local_instructions"] for kernel in kernels) == 0, (entry, kernels)
    assert sum(kernel["shared_conflicts"] for kernel in kernels) == 0, (entry, kernels)
    return moved / sum(kernel["global_requests"] for kernel in kernels)


x, z = normal(70, 1000), normal(70, 1000)
bytes_of_request = check("elements", dict(x=x, z=z), [2 * gelu(x) + z], 1.05)
assert bytes_of_request > 0.95 * 16 * 32, bytes_of_request
x = normal(30, 1000)
check("soft", dict(x=x), [softmax(x)], 1.05)
label = random.integers(0, 1000, 30).astype(np.int32)
check("loss", dict(x=x, label=label), loss(x, label), 1.05)
x = normal(30, 1024).astype(np.float16)
bytes_of_request = check("soft_half", dict(x=x), [softmax(x.astype(np.float32))], 1.05)
assert bytes_of_request > 0.95 * 16 * 32, bytes_of_request
x = normal(3, 8000)
check("soft_long", dict(x=x), [softmax(x)], 1.05)
x = normal(30, 512)
check("centred", dict(x=x), [centred(x)], 1.05)
x = normal(128, 96)
check("turned", dict(x=x), [-x.T], 1.01)
x, z = normal(130, 77), normal(77, 130)
check("turned_odd", dict(x=x, z=z), [np.maximum(x.T, 0) + z], 1.3)
x = normal(4, 128, 64).astype(np.float16)
check("turned_half", dict(x=x), [-x.transpose(0, 2, 1)], 1.01)
x = random.integers(0, 256, (999, 1003)).astype(np.uint8)
check("turned_bytes", dict(x=x), [x.T ^ 255], 1.3)
x = normal(501, 1003).astype(np.float16)
check("turned_odd_half", dict(x=x), [-x.T], 1.3)
x = normal(2, 301, 257)
check("turned_bits", dict(x=x), [x.transpose(0, 2, 1) > 0], 1.3)
x, z = normal(64, 64).astype(np.float64), normal(64, 64).astype(np.float64)
check("wide", dict(x=x, z=z), [x @ z], 1.1)
x = normal(100, 256)
check("columns", dict(x=x), [x.sum(axis=0, dtype=np.float64)], 1.3, atol=5e-5)
x = normal(50000)
check("total", dict(x=x), [x.sum(dtype=np.float64)], 1.05, atol=1e-3)
