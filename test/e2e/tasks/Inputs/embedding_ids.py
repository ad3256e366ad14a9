"""embedding_ids.py MODEL.so [LIBTFCMPI]: looks up ids of several shapes in an embedding, in one process or in a job, and
compares the rows and gradients with NumPy."""

import sys

import numpy as np
from job import Failed, Job, Model

SHAPES = {
    "single": [(), (), ()],
    "vector": [(0,), (1,), (9,)],
    "matrix": [(2, 7), (0, 3), (9, 9)],
    "cube": [(1, 2, 3), (0, 2, 3), (4, 2, 3)],
}

job = Job(sys.argv[2]) if len(sys.argv) > 2 else None
model = job.create(sys.argv[1]) if job else Model(sys.argv[1], threads=1)
is_first = job is None or job.task == 0
rng, count = np.random.default_rng(1), 0
(table,) = model.call("table")
for entry, shapes in SHAPES.items():
    for shape in shapes:
        ids = rng.integers(0, 31, shape)
        rows, loss, slope = model.call(entry, ids=ids)
        if is_first:
            expected = np.zeros((31, 4))
            np.add.at(expected, ids, 2 * table[ids])
            np.testing.assert_array_equal(rows, table[ids])
            np.testing.assert_allclose(loss, (table[ids] ** 2).sum(), rtol=1e-5)
            np.testing.assert_allclose(slope, expected, rtol=1e-5)
        count += 1
if is_first:
    print(f"{count} lookups agree", flush=True)
for wrong in (31, -1):
    try:
        model.call("matrix", ids=[[0, 30, 1], [2, wrong, 3]])
        sys.exit("an id that is not in the table was found")
    except Failed as error:
        assert error.status == "out of range", error
        if is_first:
            print(error, flush=True)
del model
if job:
    job.close()
