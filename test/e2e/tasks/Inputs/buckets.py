"""buckets.py one MODEL.so STORED: trains copies of a network by entries that sum gradients in different ways, compares
these with each other bit for bit and with NumPy, and stores the losses and variables.
buckets.py job MODEL.so STORED LIBTFCMPI: the processes of a job compare with them.
buckets.py count MODULE.mlir: prints the number of messages of each entry of a partitioned module."""

import re
import sys

import numpy as np
from job import Job, Model, read_own

ENTRIES = ["train", "train_in_one", "train_in_some", "train_in_many"]
COPIES, STEPS, LAYERS, UNITS = 3, 8, 8, 32


def count(path):
    with open(path) as file:
        for entry, slots in re.findall(r"dfg\.entry @(\w+)\(.*? slots = \[(.*?)\]", file.read()):
            print(f"{entry}: {slots.count('#dfg.slot')} messages")


def draw_start():
    rng = np.random.default_rng(3)
    start = {"words.table": rng.normal(0, 1, (30, 12))}
    for k in range(LAYERS):
        start[f"hidden.{k}.w"] = rng.normal(0, 0.3, (UNITS if k else 12, UNITS))
        start[f"hidden.{k}.b"] = rng.normal(0, 0.1, UNITS)
    start["last.w"] = rng.normal(0, 0.5, (UNITS, 5))
    start["scale"], start["shift"] = np.array(1.5), rng.normal(0, 0.1, 5)
    return start


def draw_batches():
    rng = np.random.default_rng(4)
    for rows in rng.integers(COPIES, 97, STEPS):
        yield rng.integers(0, 30, rows), rng.integers(0, 5, rows)


def differentiate(weights, word, label):
    """Returns the loss of a part of a batch and its gradients."""
    values = [weights["words.table"][word]]
    for k in range(LAYERS):
        values.append(np.tanh(values[-1] @ weights[f"hidden.{k}.w"] + weights[f"hidden.{k}.b"]))
    product = values[-1] @ weights["last.w"]
    logits = product * weights["scale"] + weights["shift"]
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    loss = -np.log(p[np.arange(len(word)), label]).mean()
    slope = (p - np.eye(5)[label]) / len(word)
    gradients = {"shift": slope.sum(0), "scale": (slope * product).sum()}
    slope = slope * weights["scale"]
    gradients["last.w"] = values[-1].T @ slope
    slope = slope @ weights["last.w"].T
    for k in reversed(range(LAYERS)):
        slope = slope * (1 - values[k + 1] ** 2)
        gradients[f"hidden.{k}.w"], gradients[f"hidden.{k}.b"] = values[k].T @ slope, slope.sum(0)
        slope = slope @ weights[f"hidden.{k}.w"].T
    gradients["words.table"] = np.zeros_like(weights["words.table"])
    np.add.at(gradients["words.table"], word, slope)
    return loss, gradients


def simulate():
    """Returns the losses and the variables of a copy."""
    weights = draw_start()
    velocity, losses = {name: np.zeros_like(value) for name, value in weights.items()}, []
    for word, label in draw_batches():
        ends = [len(word) * k // COPIES for k in range(COPIES + 1)]
        parts = [differentiate(weights, word[a:b], label[a:b]) for a, b in zip(ends, ends[1:])]
        losses.append(np.mean([loss for loss, _ in parts]))
        for name in weights:
            velocity[name] = 0.9 * velocity[name] + np.mean([each[name] for _, each in parts], axis=0)
            weights[name] = weights[name] - 0.2 * velocity[name]
    return losses, weights


def train(model, entry):
    """Returns the losses, and the variables of this process, after training from the start."""
    start = {f"net.copies.0.{name}": value for name, value in draw_start().items()}
    for name in read_own(model):
        if "velocity/" in name:
            model[name] = np.zeros(model.variables[name][1])
        elif name in start:
            model[name] = start[name]
    model.call("start")
    losses = [model.call(entry, word=word, label=label)[0] for word, label in draw_batches()]
    return losses, read_own(model)


def call_mixed(model):
    rng = np.random.default_rng(5)
    x, y, z = (rng.standard_normal(shape).astype(dtype) for shape, dtype in ((9, "f4"), ((4, 5), "f4"), (7, "f2")))
    total, half, same = model.call("mixed", x=x, y=y, z=z)
    return total, half, same, 2.8 * x


def run_one(path, stored):
    model, kept = Model(path, threads=1), {}
    for entry in ENTRIES:
        losses, variables = train(model, entry)
        for name, value in [*variables.items(), *((f"loss {i}", loss) for i, loss in enumerate(losses))]:
            np.testing.assert_array_equal(value, kept.setdefault(name, value), err_msg=f"{entry} {name}")
    losses, weights = simulate()
    np.testing.assert_allclose([kept[f"loss {i}"] for i in range(STEPS)], losses, rtol=1e-4)
    for name, value in weights.items():
        np.testing.assert_allclose(kept[f"net.copies.0.{name}"], value, rtol=1e-3, atol=1e-4, err_msg=name)
        for k in range(1, COPIES):
            np.testing.assert_array_equal(kept[f"net.copies.{k}.{name}"], kept[f"net.copies.0.{name}"], err_msg=name)
    total, half, same, expected = call_mixed(model)
    np.testing.assert_allclose(total, expected, rtol=1e-5)
    assert same
    np.savez(stored, total=total, half=half, **kept)
    print(f"{len(ENTRIES)} entries have the same bits, and the values of NumPy")


def run_job(path, stored, library):
    job = Job(library)
    model, expected = job.create(path), np.load(f"{stored}.npz")
    for entry in ENTRIES:
        losses, variables = train(model, entry)
        for name, value in variables.items():
            np.testing.assert_array_equal(value, expected[name], err_msg=f"{entry} {name}")
        for i, loss in enumerate(losses if job.task == 0 else []):
            np.testing.assert_array_equal(loss, expected[f"loss {i}"], err_msg=entry)
    total, half, same, _ = call_mixed(model)
    if job.task == 0:
        np.testing.assert_array_equal(total, expected["total"])
        np.testing.assert_array_equal(half, expected["half"])
        assert same
        print(f"{len(ENTRIES)} entries have the bits of one process", flush=True)
    del model
    job.close()


{"one": run_one, "job": run_job, "count": count}[sys.argv[1]](*sys.argv[2:])
