"""candidates.py MODEL.so: compares the frequencies of candidates with those expected, and gradients with differences."""

import os
import sys

import numpy as np
from candidates_check import check_candidates, sampled_softmax
from differences import check_gradient

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from model import Model

DRAWS = 2000
model = Model(sys.argv[1], threads=1)
rng = np.random.default_rng(3)

for entry, count, classes in ("few", 20, 1000), ("most", 30, 40):
    found, sums = np.zeros(classes), np.zeros(8)
    label = np.array([0, 1, 2, 5, 9, 17, 30, 39])
    for _ in range(DRAWS):
        sampled, expected, label_expected = model.call(entry, label=label)
        check_candidates(sampled, expected, label, label_expected, classes)
        found[sampled] += 1
        sums += label_expected
    # The number of tries depends on the draws, so frequencies differ a little from their expectation.
    frequency, expected = found[label] / DRAWS, sums / DRAWS
    bound = 4 * np.sqrt(np.maximum(expected * (1 - expected), 1e-3) / DRAWS) + 0.01
    assert (np.abs(frequency - expected) < bound).all(), (frequency, expected)
    print(f"{DRAWS} draws of {count} of {classes} classes: frequencies agree")

for _ in range(50):
    sampled, expected, label_expected = model.call("every", label=[11])
    check_candidates(sampled, expected, np.array([11]), label_expected, 12)
print("all of 12 classes are drawn")

w, b = rng.normal(0, 0.5, (50, 5)), rng.normal(0, 0.5, 50)
model["table.table"], model["bias.table"] = w, b[:, None]
x, label, weight = rng.standard_normal((7, 5)), np.array([0, 1, 1, 7, 20, 49, 3]), rng.standard_normal(7)
loss, dx, dw, db, *candidates = model.call("slope", x=x, label=label, weight=weight)
assert (candidates[0] == label[:, None]).any()


def loss_of():
    return (weight * sampled_softmax(x, label, w, b, *candidates)[0] ** 2).sum()


np.testing.assert_allclose(loss, loss_of(), rtol=1e-6)
for value, gradient in (x, dx), (w, dw), (b, db[:, 0]):
    check_gradient(loss_of, value, gradient, np.ndindex(value.shape), rtol=1e-5, atol=1e-6)
print("the gradients are those of central differences")
