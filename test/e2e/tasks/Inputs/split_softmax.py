"""split_softmax.py MODEL.so LIBTFCMPI: trains with classes that are divided among the tasks of a job, and compares with NumPy.
Each process simulates all and compares its variables."""

import sys

import numpy as np
from differences import check_gradient
from job import Failed, Job, read_own

CLASSES, WIDTH, STEPS = 101, 8, 40
job = Job(sys.argv[2])
model = job.create(sys.argv[1])
rng = np.random.default_rng(4)


def part_of(value, k):
    """The last axis of part `k`."""
    return value[..., CLASSES * k // job.count : CLASSES * (k + 1) // job.count]


def give(name, value):
    try:
        model[name] = value
    except Failed as error:
        assert "is in another process" in str(error), error


def start(prefix):
    w, b = rng.normal(0, 0.5, (WIDTH, CLASSES)), rng.normal(0, 0.5, CLASSES)
    for k in range(job.count):
        give(f"{prefix}.blocks.{k}.w", part_of(w, k))
        give(f"{prefix}.blocks.{k}.b", part_of(b, k))
    return w, b


def rows_of(x, label, w, b):
    """The losses of the rows and the slopes of the logits."""
    logits = x @ w + b
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    return -np.log(p[np.arange(len(x)), label]), p - np.eye(CLASSES)[label]


class Adam:
    def __init__(self, values):
        self.values, self.step = values, 0
        self.m, self.s = ([np.zeros_like(v) for v in values] for _ in range(2))

    def apply(self, gradients):
        self.step += 1
        for v, m, s, g in zip(self.values, self.m, self.s, gradients):
            m += 0.1 * (g - m)
            s += 0.001 * (g * g - s)
            v -= 0.05 * (m / (1 - 0.9**self.step)) / (np.sqrt(s / (1 - 0.999**self.step)) + 1e-8)


# Training: each task updates its classes.
w, b = start("head")
own = rng.normal(0, 0.3, (16, WIDTH))
give("w", own)
adam = Adam([own, w, b])
for step in range(STEPS):
    n = rng.integers(1, 65)
    x, label = rng.standard_normal((n, 16)), rng.integers(0, CLASSES, n)
    (loss,) = model.call("train", x=x, label=label)
    hidden = np.tanh(x @ own)
    losses, slope = rows_of(hidden, label, w, b)
    slope /= n
    adam.apply([x.T @ (slope @ w.T * (1 - hidden**2)), hidden.T @ slope, slope.sum(0)])
    if job.task == 0:
        np.testing.assert_allclose(loss, losses.mean(), rtol=1e-4)
variables = read_own(model)
block = f"head.blocks.{job.task}"
np.testing.assert_allclose(variables[f"{block}.w"], part_of(w, job.task), rtol=2e-3, atol=2e-4)
np.testing.assert_allclose(variables[f"{block}.b"], part_of(b, job.task), rtol=2e-3, atol=2e-4)
slots = [name for name in variables if name.startswith("opt.") and "/head" in name]
assert len(slots) == 4 and all(f"/{block}." in name for name in slots), slots
if job.task == 0:
    np.testing.assert_allclose(variables["w"], own, rtol=2e-3, atol=2e-4)
x = rng.standard_normal((64, 16))
(found,) = model.call("classify", x=x)
if job.task == 0:
    logits = np.tanh(x @ own) @ w + b
    assert (logits[np.arange(64), found] > logits.max(1) - 1e-3).all()
    assert (found == logits.argmax(1)).mean() > 0.95
    print(f"{STEPS} steps agree, with {len(slots)} slots of the optimizer on each task", flush=True)

# Gradients in f64.
w, b = start("exact")
x, weight = rng.standard_normal((9, WIDTH)), rng.standard_normal(9)
label = np.array([0, 32, 33, 66, 67, 100, 5, 50, 90])  # the ends of the parts among them
loss, *gradients = model.call("slope", x=x, label=label, weight=weight)
if job.task == 0:

    def loss_of():
        return (weight * rows_of(x, label, w, b)[0] ** 2).sum()

    np.testing.assert_allclose(loss, loss_of(), rtol=1e-12)
    for value, gradient in zip((x, w, b), gradients):
        places = [tuple(rng.integers(0, value.shape)) for _ in range(30)]
        check_gradient(loss_of, value, gradient, places, rtol=1e-6, atol=1e-7)
    print("the gradients are those of central differences", flush=True)

# The exponentials of such logits overflow.
results = model.call("slope", x=300.0 * x, label=label, weight=weight)
assert job.task or all(np.isfinite(value).all() for value in results)

# Labels that are no classes.
refused = 0
for wrong in (-1, CLASSES, 10**6, -(10**6)):
    try:
        model.call("train", x=np.zeros((3, 16)), label=[0, wrong, 100])
    except Failed as error:
        assert error.status == "out of range", error
        refused += 1
if job.task == 0:
    print(f"{refused} labels that are no classes fail", flush=True)
del model
job.close()
