"""replicas.py LIBRARY: trains one instance by the entries of replicas.graph that use several devices, another one by
those that use one, on the same batches, and compares losses and variables."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))

import numpy as np
from model import Failed, Model

STEPS = 30


def make_feeds(random, entry):
    n = random.integers(3, 41)
    if entry == "network":
        return {"x": random.standard_normal((n, 12)), "label": random.integers(0, 5, n)}
    if entry == "words":
        return {"word": random.integers(0, 50, n), "target": random.standard_normal(n), "scale": random.random(n)}
    return {"x": random.standard_normal((n, random.integers(1, 10), 3))}


def compare(divided, whole, entry):
    random = np.random.default_rng(1)
    for _ in range(STEPS):
        feeds = make_feeds(random, entry)
        losses = divided.call(entry, **feeds), whole.call(f"{entry}_whole", **feeds)
        np.testing.assert_allclose(*losses, rtol=1e-5, atol=1e-6)
    for name in whole.variables:
        np.testing.assert_allclose(divided[name], whole[name], rtol=1e-5, atol=1e-5, err_msg=name)
    print(f"{entry}: {STEPS} steps agree")


def fail(model, entry, **feeds):
    before = {name: model[name].tobytes() for name in model.variables}
    try:
        model.call(entry, **feeds)
    except Failed:
        assert before == {name: model[name].tobytes() for name in model.variables}
        return
    raise AssertionError(f"{entry} did not fail")


def main():
    divided, whole = Model(sys.argv[1]), Model(sys.argv[1])
    for entry in "network", "words", "memory":
        compare(divided, whole, entry)
    fail(divided, "network", x=np.ones((6, 12)), label=[0, 1, 2, 3, 4, 5])
    fail(divided, "network", x=np.ones((6, 12)), label=[5, 1, 2, 3, 4, 0])
    fail(divided, "words", word=[0, 1, 2, 50], target=np.ones(4), scale=np.ones(4))
    fail(divided, "network", x=np.ones((1, 12)), label=[0])
    print("failing calls change nothing")


main()
