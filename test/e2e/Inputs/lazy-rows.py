"""lazy-rows.py MODEL.so: Adam and gradient descent on the rows of a table, compared with NumPy."""

import sys

import numpy as np
from model import Model

model, random = Model(sys.argv[1]), np.random.default_rng(0)
table, other = model["table"], model["other"]
first, second = np.zeros_like(table), np.zeros_like(table)
for step in range(1, 12):
    count = [1, 5, 20][step % 3]
    i = random.integers(0, 30, count).astype(np.int32)
    i[count // 2] = i[0]
    target = random.normal(size=(count, 3))

    slopes = np.zeros_like(table)
    np.add.at(slopes, i, 2 * (table[i] - target))
    rows = np.unique(i)
    loss = ((table[i] - target) ** 2).sum()
    np.testing.assert_allclose(model.call("step", i=i, target=target)[0], loss, rtol=1e-12)
    first[rows] = 0.9 * first[rows] + 0.1 * slopes[rows]
    second[rows] = 0.999 * second[rows] + 0.001 * slopes[rows] ** 2
    mean, square = first[rows] / (1 - 0.9**step), second[rows] / (1 - 0.999**step)
    table[rows] -= 0.1 * mean / (np.sqrt(square) + 1e-8)
    np.testing.assert_allclose(model["table"], table, rtol=1e-10, atol=1e-12)
    assert (model["table"][30:] == table[30:]).all()

    slopes = np.zeros_like(other)
    np.add.at(slopes, i, 2 * (other[i] - target))
    model.call("descend", i=i, target=target)
    other -= 0.1 * slopes
    np.testing.assert_allclose(model["other"], other, rtol=1e-10, atol=1e-12)

for count in 0, 1, 20:  # from fewer places than there are rows, and more
    i, target = random.integers(0, 30, (count, 2)), random.normal(size=(count, 2, 3))
    slopes = np.zeros_like(table)
    np.add.at(slopes, i, 2 * (table[i] - target))
    results = model.call("slopes", i=i, target=target)
    for got, want in zip(results, [slopes, 2 * slopes, np.exp(other)]):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
print("rows agree")
