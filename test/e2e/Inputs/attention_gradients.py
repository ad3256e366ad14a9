"""attention_gradients.py LIBRARY APART: gradients of attention in f64 agree with central differences along random
directions, results do not depend on the number of threads, and all agree with APART, whose kernels store scores."""

import sys

import numpy as np
from model import Model

library, apart = sys.argv[1:]
random = np.random.default_rng(1)
OPERANDS = "qkv"
STEP = 1e-5


def check(entry, shape, s, d, e, dtype="f8", **others):
    *batch, t = shape
    sizes = dict(q=(*batch, t, d), k=(*batch, s, d), v=(*batch, s, e), g=(*batch, t, e))
    feeds = {name: random.normal(size=size).astype(dtype) for name, size in sizes.items()} | others
    results = [Model(path, threads=n).call(entry, **feeds) for path, n in
               [(library, 1), (library, 2), (library, 3), (apart, 1)]]
    for other in results[1:3]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other)), entry
    worst = 1e-11 if dtype == "f8" else 2e-5
    for value, expected in zip(results[0], results[3]):
        error = np.abs(value - expected).max() / np.abs(expected).max()
        assert error < worst, (entry, shape, s, error)
    if dtype != "f8":
        return
    model = Model(library, threads=1)

    def loss(name, change):
        y = model.call(entry, **feeds | {name: feeds[name] + change})[0]
        return (y * feeds["g"]).sum()

    for name, gradient in zip(OPERANDS, results[0][1:]):
        direction = random.normal(size=feeds[name].shape)
        slope = (loss(name, STEP * direction) - loss(name, -STEP * direction)) / (2 * STEP)
        want = (gradient * direction).sum()
        assert abs(slope - want) < 1e-6 * np.abs(gradient * direction).sum(), (entry, name, slope, want)


for dtype in "f8", "f4":
    plain, causal, masked = (name if dtype == "f8" else name + "_single" for name in ("plain", "causal", "masked"))
    check(plain, (2, 65), 70, 16, 24, dtype)
    check(plain, (1, 300), 129, 16, 24, dtype)  # several blocks, and tails of them
    check(causal, (2, 67), 67, 20, 16, dtype)
    check(causal, (1, 290), 290, 20, 16, dtype)
    check(causal, (1, 150), 300, 20, 16, dtype)
    check(causal, (1, 300), 150, 20, 16, dtype)
    check(masked, (3, 140), 260, 16, 16, dtype, mask=random.random(size=(140, 260)) < 0.5)
