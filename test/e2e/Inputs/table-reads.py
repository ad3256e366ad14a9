"""table-reads.py MODEL.so: gradients of a table that is read in several places, compared with NumPy."""

import sys

import numpy as np
from model import Model

model = Model(sys.argv[1])
i, j = np.array([0, 0, 7]), np.array([1, 7, 7, 2, 0])


def rows(at, slopes):
    """The gradient of a sum over the rows `at`, each of which has its row of `slopes`."""
    gradient = np.zeros_like(slopes)
    np.add.at(gradient, at, slopes[at])
    return gradient


table = model["table"]
want = rows(i, 2 * table) + 8 * table / table.size
np.testing.assert_allclose(model.call("branch", double=np.array(True), i=i)[0], want, rtol=1e-12)

table = model["table"]
got = model.call("branch", double=np.array(False), i=i)[0]
np.testing.assert_allclose(got, rows(i, 2 * table), rtol=1e-12)

np.testing.assert_allclose(model.call("after", i=i)[0], rows(i, 10 * table), rtol=1e-12)

table = model["table"]
np.testing.assert_allclose(model.call("copied", i=i)[0], rows(i, 0.5 * table), rtol=1e-12)
v = table + 0.25
want = rows(i, 2 * v) + rows(j, np.exp(v)) + 1 / v.size
np.testing.assert_allclose(model.call("stored", v=v, i=i, j=j)[0], want, rtol=1e-12)
want = rows(i, 2 * v) + np.exp(v)
np.testing.assert_allclose(model.call("given", v=v, i=i)[0], want, rtol=1e-12)

table = model["table"]
want = rows(i, 2 * table) + rows(j, np.exp(table))
np.testing.assert_allclose(model.call("unordered", i=i, j=j)[0], want, rtol=1e-12)
want = rows(i, 2 * table) + np.exp(table)
np.testing.assert_allclose(model.call("unordered_rest", i=i)[0], want, rtol=1e-12)
