"""collective_slopes.py one MODEL.so STORED: compares the losses of collective operations with NumPy and their gradients
with central differences, and stores them.
collective_slopes.py job MODEL.so STORED LIBTFCMPI: the processes of a job compare with them."""

import sys

import numpy as np
from differences import check_gradient
from job import Job, Model

mode, path, stored = sys.argv[1:4]
job = Job(sys.argv[4]) if mode == "job" else None
model = job.create(path) if job else Model(path, threads=1)


def given(x, count):
    return [x * (1.0 + k) + np.sin(x) for k in range(count)]


def pieces(x, count):
    return [x[len(x) * k // count : len(x) * (k + 1) // count] for k in range(count)]


def reduce_to_all(x, count):
    return [sum(given(x, count))] * count


def scatter(x, count):
    return pieces(sum(given(x, count)), count)


def gather(x, count):
    return [np.concatenate(given(x, count))] * count


def cross(x, count):
    return [np.concatenate([pieces(each, count)[k] for each in given(x, count)]) for k in range(count)]


def broadcast(x, count):
    return [(x + np.sin(x)) * (1.0 + k) for k in range(count)]


def loss_of(xs):
    return sum((np.tanh(0.1 * x) ** 2).sum() * (0.5 + k) for k, x in enumerate(xs))


# For each entry the operation, the number of devices, and the numbers of rows; a scalar has none.
ENTRIES = {
    "reduce_to_all": (reduce_to_all, 3, (0, 1, 5)),
    "reduce_scalars": (reduce_to_all, 3, (None,)),
    "reduce_one": (reduce_to_all, 1, (5,)),
    "scatter": (scatter, 3, (3, 8)),
    "scatter_one": (scatter, 1, (1, 5)),
    "gather_all": (gather, 3, (0, 1, 5)),
    "gather_one": (gather, 1, (5,)),
    "cross": (cross, 3, (3, 8)),
    "cross_one": (cross, 1, (1, 5)),
    "broadcast_to_all": (broadcast, 3, (0, 1, 5)),
    "broadcast_scalar": (broadcast, 3, (None,)),
    "broadcast_one": (broadcast, 1, (5,)),
}

results, rng = [], np.random.default_rng(1)
for name, (operation, count, sizes) in ENTRIES.items():
    for rows in sizes:
        x = np.asarray(rng.standard_normal(() if rows is None else (rows, 2)))
        loss, slope = model.call(name, x=x)
        results += [loss, slope]
        if mode == "one":
            np.testing.assert_allclose(loss, loss_of(operation(x, count)), rtol=1e-12, err_msg=name)
            check_gradient(lambda: loss_of(operation(x, count)), x, slope, np.ndindex(x.shape), 1e-6, 1e-8)

if mode == "one":
    np.savez(stored, *results)
elif job.task == 0:
    expected = np.load(f"{stored}.npz")
    for i, value in enumerate(results):
        np.testing.assert_array_equal(value, expected[f"arr_{i}"])
if job is None or job.task == 0:
    print(f"{len(ENTRIES)} operations with {len(results) // 2} gradients", flush=True)
del model
if job:
    job.close()
