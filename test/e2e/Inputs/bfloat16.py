"""Reference results of bf16 operations, computed with NumPy's f32 and rounded by hand."""

import numpy as np


def rounded(x):
    """To the nearest bf16, ties to even; NaN stays NaN."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    up = bits + 0x7FFF + ((bits >> 16) & 1)
    return np.where(np.isnan(x), np.float32(np.nan), (up & 0xFFFF0000).astype(np.uint32).view(np.float32))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def cases(random):
    for n in 1, 7, 33:
        x = (random.normal(size=n) * 10.0 ** random.integers(-30, 30, n)).astype(np.float32)
        x[0] = [np.nan, np.inf, 1 + 2**-8][n % 3]
        yield "rounded", {"x": x}, [rounded(x)]
        x, y = random.normal(size=(n, 40)).astype(np.float32), random.normal(size=(40, 5)).astype(np.float32)
        b, c = rounded(x), rounded(y)
        results = b.sum(1), b.mean(1), b.max(1), np.cumsum(b, 1)
        yield "sums", {"x": x}, [rounded(r) for r in results], 1e-2
        z = rounded(b @ c)
        yield "products", {"x": x, "y": y}, [z, rounded(softmax(z))], 2e-2
        x, i = random.normal(size=(n, 4)).astype(np.float32), np.array([2, 0, 2], np.int32)
        b = rounded(x)
        added = b.copy()
        for k, place in enumerate(i):
            added[:, place] = rounded(added[:, place] + b[:, k])
        yield "moved", {"x": x, "i": i}, [b[:, i], added, np.concatenate([b, b], 1)]
