"""updates.py MODEL.so: several updates of one variable in a call, compared with NumPy."""

import sys

import numpy as np
from model import Failed, Model

model, random = Model(sys.argv[1]), np.random.default_rng(0)
table = model["table"].astype(np.float64)


def agree(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def fails(entry, **feeds):
    old = model["table"]
    try:
        model.call(entry, **feeds)
    except Failed as failure:
        assert failure.status == "out of range", failure.status
    else:
        raise AssertionError(f"{entry} takes an index outside")
    assert (model["table"] == old).all()


for n in 1, 9, 0, 5:
    i, j = random.integers(0, 40, n), random.permutation(40)[:n]
    x = random.normal(size=(n, 3)).astype(np.float32)
    before, between, after = model.chain(i=i, j=j, x=x)
    agree(before, table.sum())
    np.add.at(table, i, x)
    agree(between, table[j])
    kept = table[j]
    table[j] = 2 * x
    table *= 0.5
    table[j] += kept
    agree(after, table[i])
    agree(model["table"], table)

    model.share(i=i, x=x)
    np.add.at(table, i, x)
    agree(model["other"], table)
    np.add.at(table, i, x)
    agree(model["table"], table)

x = np.ones((2, 3))
fails("chain", i=[1, 40], j=[1, 2], x=x)
fails("chain", i=[1, 2], j=[1, 40], x=x)
model["table"] = table = np.full((40, 3), 7.0)
model.follow(i=[3, 4], x=x)
table[3:5] += 1
table[8] += 2
agree(model["table"], table)
fails("follow", i=[3, 4], x=x * 100)
print("updates agree")
