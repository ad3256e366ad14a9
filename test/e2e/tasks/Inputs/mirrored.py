"""mirrored.py MODEL.so LIBTFCMPI ENTRY: trains copies of a network together, and compares them and the losses with NumPy."""

import sys

import numpy as np
from job import Job, read_own

job = Job(sys.argv[2])
model = job.create(sys.argv[1])
rng = np.random.default_rng(2)
start = {
    "first.w": rng.normal(0, 0.25, (16, 64)),
    "first.b": rng.normal(0, 0.1, 64),
    "second.w": rng.normal(0, 0.1, (64, 10)),
    "second.b": rng.normal(0, 0.1, 10),
}
if job.task == 0:
    for name, value in start.items():
        model[f"copies.0.{name}"] = value
model.call("start")

weights, velocity = dict(start), {name: np.zeros_like(value) for name, value in start.items()}


def simulate(x, label):
    hidden = np.tanh(x @ weights["first.w"] + weights["first.b"])
    logits = hidden @ weights["second.w"] + weights["second.b"]
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    loss = -np.log(p[np.arange(len(x)), label]).mean()
    slope = (p - np.eye(10)[label]) / len(x)
    inner = (slope @ weights["second.w"].T) * (1 - hidden**2)
    gradients = {
        "first.w": x.T @ inner,
        "first.b": inner.sum(0),
        "second.w": hidden.T @ slope,
        "second.b": slope.sum(0),
    }
    for name, gradient in gradients.items():
        velocity[name] = 0.9 * velocity[name] + gradient
        weights[name] = weights[name] - 0.1 * velocity[name]
    return loss


for step in range(20):
    x, label = rng.standard_normal((64, 16)), rng.integers(0, 10, 64)
    (loss,) = model.call(sys.argv[3], x=x, label=label)
    expected = simulate(x, label)
    if job.task == 0:
        np.testing.assert_allclose(loss, expected, rtol=1e-4)
for name, value in read_own(model).items():
    if name.startswith(f"copies.{job.task}.") and "/" not in name:
        np.testing.assert_allclose(value, weights[name[len("copies.0.") :]], rtol=2e-3, atol=2e-5)
# Both have the same bits: the sums have the same order everywhere.
model.save(sys.argv[1] + ".safetensors")
del model
if job.task == 0:
    from model import Model

    one = Model(sys.argv[1], threads=1)
    one.load(sys.argv[1] + ".safetensors")
    for name in start:
        np.testing.assert_array_equal(one[f"copies.0.{name}"], one[f"copies.1.{name}"], err_msg=name)
    print("20 losses agree, the copies are equal", flush=True)
job.close()
