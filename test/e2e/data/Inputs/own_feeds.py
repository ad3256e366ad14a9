"""Trains on rows that each process passes, and compares with NumPy."""

import sys

import numpy as np

sys.path[:0] = [f"{__file__.rsplit('/', 3)[0]}/Inputs", f"{__file__.rsplit('/', 3)[0]}/tasks/Inputs"]
from model import Failed, Model


def batch(step, task, n):
    rng = np.random.default_rng(100 * step + task)
    return rng.standard_normal((n, 6)).astype(np.float32), rng.integers(0, 3, n).astype(np.int32)


def simulate(w, b, batches):
    """The mean loss of batches of one size, and the variables after a step."""
    losses, dw, db = [], 0, 0
    for x, label in batches:
        x = x.astype(np.float64)
        logits = x @ w + b
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        rows = np.arange(len(label))
        losses.append(-np.log(p[rows, label]).mean())
        p[rows, label] -= 1
        dw = dw + x.T @ p / len(label) / len(batches)
        db = db + p.mean(axis=0) / len(batches)
    return np.mean(losses), w - 0.5 * dw, b - 0.5 * db


if len(sys.argv) == 2:
    model = Model(sys.argv[1])
    w, b = model["w"].astype(np.float64), model["b"].astype(np.float64)
    x, label = batch(0, 1, 20)
    loss, w, b = simulate(w, b, [(x, label)])
    assert abs(model.train(x=x, label=label)[0] - loss) < 1e-5 and np.allclose(model["w"], w, atol=1e-5)
    print("one process: the mean of three equal batches is that of one")
    sys.exit()

from job import Job, read_own

job = Job(sys.argv[2])
model = job.create(sys.argv[1])
variables = {name: value.astype(np.float64) for name, value in read_own(model).items()}
for step in range(30):
    n = 1 + step % 20
    x, label = batch(step, job.task, n)
    loss = model.train(x=x, label=label)[0]
    if job.task == 0:
        want, w, b = simulate(variables["w"], variables["b"], [batch(step, task, n) for task in (1, 2, 3)])
        variables = {"w": w, "b": b}
        assert abs(loss - want) < 1e-5, (step, loss, want)
if job.task == 0:
    for name, value in read_own(model).items():
        assert np.allclose(value, variables[name], atol=1e-4), name

# The first process reads none of its own feeds here, but a call checks them.
failing = 0
before = read_own(model)
for task in (1, 2, 3):
    x, label = batch(0, job.task, 8)
    try:
        model.call_raw("train", [x, label], 1, missing=[0] if job.task == task else [])
    except Failed as failure:
        assert failure.status == "invalid argument", failure
        assert "feed 'x' of this process is null" in str(failure), failure
        failing += 1
assert all(np.array_equal(before[name], value) for name, value in read_own(model).items())
x, label = batch(0, job.task, 8)
model.train(x=x, label=label)
what = "30 losses and 2 variables agree" if job.task == 0 else "30 steps"
print(f"task {job.task}: {what}, {failing} failing calls", flush=True)
del model
job.close()
