"""balanced.py MODEL.so LIBTFCMPI: trains a network whose variables are divided among tasks by their sizes, and compares it and
the places of the variables with NumPy."""

import sys

import numpy as np
from job import Failed, Job, read_own

WIDTHS = [16, 40, 72, 48, 10]
SIZES = [7, 300, 7, 41, 500, 120, 120, 0, 90, 1, 33, 210]
job = Job(sys.argv[2])
model = job.create(sys.argv[1])
rng = np.random.default_rng(6)


def balanced(sizes, count=2):
    """The task of each size: the largest first, each to the task with the smallest sum."""
    places, loads = [0] * len(sizes), [0] * count
    for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        places[i] = loads.index(min(loads))
        loads[places[i]] += sizes[i]
    return places


def simulate(x, label):
    xs = [x]
    for w in weights[:-1]:
        xs.append(np.tanh(xs[-1] @ w))
    logits = xs[-1] @ weights[-1]
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    loss = -np.log(p[np.arange(len(x)), label]).mean()
    slope = (p - np.eye(WIDTHS[-1])[label]) / len(x)
    for i in reversed(range(len(weights))):
        gradient = xs[i].T @ slope
        slope = slope @ weights[i].T * (1 - xs[i] ** 2)
        velocity[i] = 0.9 * velocity[i] + gradient
        weights[i] = weights[i] - 0.1 * velocity[i]
    return loss


weights = [rng.normal(0, i**-0.5, (i, o)) for i, o in zip(WIDTHS, WIDTHS[1:])]
velocity = [np.zeros_like(w) for w in weights]
for i, w in enumerate(weights):
    try:
        model[f"net.{i}.w"] = w
    except Failed as error:
        assert "is in another process" in str(error), error
STEPS = 30
for step in range(STEPS):
    x, label = rng.standard_normal((50, 16)), rng.integers(0, 10, 50)
    (loss,) = model.call("train", x=x, label=label)
    expected = simulate(x, label)
    if job.task == 0:
        np.testing.assert_allclose(loss, expected, rtol=1e-4)
if job.task == 0:
    print(f"{STEPS} losses agree", flush=True)
model.call("touch")

own = read_own(model)
matrices = [i for i in range(4) if f"net.{i}.w" in own]
for i in matrices:
    np.testing.assert_allclose(own[f"net.{i}.w"], weights[i], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(own[f"opt.velocity/net.{i}.w"], velocity[i], rtol=1e-3, atol=1e-5)
assert sum("opt.velocity/net" in name for name in own) == len(matrices)
cells = [i for i in range(len(SIZES)) if f"cells.{i}.v" in own]
assert all((own[f"cells.{i}.v"] == 1).all() for i in cells)
sizes = [i * o for i, o in zip(WIDTHS, WIDTHS[1:])]
assert matrices == [i for i, task in enumerate(balanced(sizes)) if task == job.task], matrices
assert cells == [i for i, task in enumerate(balanced(SIZES)) if task == job.task], cells
values = sum(sizes[i] for i in matrices) + sum(SIZES[i] for i in cells)
print(f"task {job.task}: {len(matrices)} of 4 matrices, {len(cells)} of {len(SIZES)} cells, {values} values", flush=True)
del model
job.close()
