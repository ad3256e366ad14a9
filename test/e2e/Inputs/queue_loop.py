"""queue_loop.py LIBRARY: compares calls that take elements in a loop, and their gradients, with NumPy."""

import sys

import numpy as np
from model import Failed, Model


def expected(w, elements, count):
    """The sum, the last element, and how many are left."""
    queue, total, last = list(elements), 0, None
    for _ in range(count):
        x = queue.pop(0)
        t = np.sin(x * w).sum()
        last = queue.pop(0) if t > 0 else x
        total += (last * w).sum() * t
    return total, last, len(queue)


model = Model(sys.argv[1])
elements = np.random.default_rng(0).normal(size=(12, 3))
for count in (5, 4):
    w = model["w"].copy()
    model.call("put", x=elements)
    y, g, last = model.call("train", n=np.int64(count))
    total, element, left = expected(w, elements, count)
    steps = np.eye(3) * 1e-6
    differences = [expected(w + d, elements, count)[0] - expected(w - d, elements, count)[0] for d in steps]
    np.testing.assert_allclose(y, total)
    np.testing.assert_array_equal(last, element)
    np.testing.assert_allclose(g, np.array(differences) / 2e-6, rtol=1e-6)
    np.testing.assert_allclose(model["w"], w - g)
    w = model["w"].copy()
    try:
        model.call("train", n=np.int64(50))
    except Failed as failed:
        print(failed.status, failed, (model["w"] == w).all())
