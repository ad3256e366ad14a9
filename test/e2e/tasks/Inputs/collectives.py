"""collectives.py one MODEL.so STORED: compares the results of one process with NumPy, and stores them.
collectives.py job MODEL.so STORED LIBTFCMPI: the processes of a job compare with them."""

import sys

import numpy as np
from job import Job, Model

mode, path, stored = sys.argv[1:4]
job = Job(sys.argv[4]) if mode == "job" else None
model = job.create(path) if job else Model(path, threads=1)
rng = np.random.default_rng(1)
NUMBERS = (1.0, 2.0, -3.0)
results = []


def call(entry, **feeds):
    fetches = model.call(entry, **feeds)
    results.extend(fetches)
    return fetches


def given(x):
    return [x * number + np.sin(x) for number in NUMBERS]


def pieces(x, count=3):
    return [x[len(x) * k // count : len(x) * (k + 1) // count] for k in range(count)]


def check(got, *expected):
    if mode == "one":
        for x, y in zip(got, expected):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4)


x = rng.standard_normal((7, 3)).astype(np.float32)
xs = given(x)
crossed = np.concatenate([pieces(each)[k] for k in range(3) for each in xs])
check(call("small", x=x), sum(xs), np.concatenate(xs[:2]), sum(xs), crossed[:7])
x = rng.standard_normal((100, 90)).astype(np.float32)
check(call("large", x=x), sum(given(x)), True)

x, w = rng.standard_normal((2, 100, 90))


def loss_of(x):
    return (w * np.tanh(3 * sum(given(x)) ** 2 * 0.01)).sum()


loss, slope = call("slope", x=x, w=w)
check([loss], loss_of(x))
for at in ((0, 0), (57, 31), (99, 89)):
    step = np.zeros_like(x)
    step[at] = 1e-5
    check([slope[at]], (loss_of(x + step) - loss_of(x - step)) / 2e-5)

if mode == "one":
    np.savez(stored, *results)
    sys.exit()
if job.task == 0:
    expected = np.load(f"{stored}.npz")
    for i, value in enumerate(results):
        np.testing.assert_array_equal(value, expected[f"arr_{i}"])
    print(f"{len(results)} results agree", flush=True)
del model
job.close()
