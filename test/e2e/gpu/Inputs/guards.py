"""guards.py MODEL.so: checks that failing calls change no variable, and that the next one computes what NumPy does."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from model import Failed, Model

VARIABLES = ["table", "bias", "product", "last", "first", "steps"]

model = Model(sys.argv[1])
rng = np.random.default_rng(5)
x = rng.standard_normal((16, 16)).astype(np.float32)


def state():
    return {name: model[name] for name in VARIABLES}


def fail(i, j, line, index):
    before = state()
    try:
        model.call("step", i=i, j=j, x=x)
        sys.exit("a call with invalid indices succeeded")
    except Failed as error:
        expected = f"step: 'gather' at guards.graph:{line} got index {index} of axis 0 of f32[10, 4]"
        assert str(error) == expected, str(error)
    for name, value in state().items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)


def step(i, j):
    """Calls the entry and compares with a simulation."""
    old = state()
    (loss,) = model.call("step", i=i, j=j, x=x)
    a, b, bias = old["table"][i], old["table"][j], old["bias"]
    np.testing.assert_allclose(loss, np.sum(a * a) + np.sum(b * bias), rtol=1e-5)
    gradient = np.zeros((10, 4), np.float32)
    np.add.at(gradient, i, 2 * a)
    np.add.at(gradient, j, np.broadcast_to(bias, b.shape))
    new = state()
    np.testing.assert_allclose(new["table"], old["table"] - 0.1 * gradient, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(new["bias"], bias - 0.1 * b.sum(0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(new["product"], old["product"] + x @ x, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(new["first"], old["last"])
    np.testing.assert_array_equal(new["last"], b[0])
    assert new["steps"] == old["steps"] + 1


def ints(*values):
    return np.array(values, np.int64)


for size in (4, 4, 7, 4):
    step(rng.integers(0, 10, size), ints(1, 2, 3))
    fail(ints(1, 10, 3, 4), ints(1, 2, 3), 11, 10)
    fail(ints(1, 2, 3, 4), ints(1, -11, 3), 12, -11)
    fail(ints(1, 12), ints(1, -11, 3), 11, 12)
