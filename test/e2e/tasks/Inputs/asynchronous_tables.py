"""asynchronous_tables.py MODEL.so LIBTFCMPI FOLDER: a process of a job of two tasks with variables and two workers, which
write the steps that they have done.
asynchronous_tables.py simulate FOLDER: simulates these steps and compares the variables."""

import os
import sys
import time

import numpy as np
from job import Job

STEPS, WORKERS, RATE = 40, (2, 3), 0.2


def batch_of(number):
    rng = np.random.default_rng(number)
    n = rng.integers(1, 31)
    return dict(word=rng.integers(0, 120, n), place=rng.integers(0, 90, (n, 2)), label=rng.integers(0, 4, n))


def differentiate(weights, number):
    """The loss and the gradients of a batch."""
    word, place, label = batch_of(number).values()
    x = weights["words"][word] + weights["places"][place].sum(axis=1)
    logits = x @ weights["out"]
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    slope = (p - np.eye(4)[label]) / len(word)
    gradients = {name: np.zeros_like(value) for name, value in weights.items()}
    gradients["out"] = x.T @ slope
    np.add.at(gradients["words"], word, slope @ weights["out"].T)
    np.add.at(gradients["places"], place, (slope @ weights["out"].T)[:, None])
    return -np.log(p[np.arange(len(label)), label]).mean(), gradients


def simulate(folder):
    start, end = ({**np.load(os.path.join(folder, f"{name}.npz"))} for name in ("start", "end"))
    log = sorted(tuple(step) for task in WORKERS for step in np.load(os.path.join(folder, f"log-{task}.npy")))
    assert [step[0] for step in log] == list(range(1, len(log) + 1)), log
    states = [{name: value.astype(np.float64) for name, value in start.items()}]
    sums = {name: np.full(value.shape, 0.1) for name, value in start.items()}
    for _, seen, number, loss in log:
        expected, gradients = differentiate(states[int(seen)], int(number))
        np.testing.assert_allclose(loss, expected, rtol=1e-4)
        state = {}
        for name, g in gradients.items():
            sums[name] += g**2
            state[name] = states[-1][name] - RATE * g / np.sqrt(sums[name])
        states.append(state)
    for name, value in states[-1].items():
        np.testing.assert_allclose(end[name], value, rtol=1e-3, atol=1e-4, err_msg=name)
        np.testing.assert_array_equal((end[name] != start[name]).any(axis=1), (value != start[name]).any(axis=1))
    late = sum(seen + 1 < updates for updates, seen, _, _ in log)
    changed = (end["words"] != start["words"]).any(axis=1).sum()
    print(f"{len(log)} updates, of which {late} saw an earlier state; {changed} of 501 rows have changed")


def await_file(folder, name):
    while not os.path.exists(os.path.join(folder, name)):
        time.sleep(0.01)


def save(model, folder, name):
    words, places, out = model.call("read")
    np.savez(os.path.join(folder, name), words=words, places=places, out=out)


def train(model, task):
    for number in range(1000 * task, 1000 * task + STEPS):
        loss, seen = model.call("compute", **batch_of(number))
        (updates,) = model.call("apply")
        yield updates, seen, number, loss


def run(path, library, folder):
    job = Job(library)
    model = job.create(path, alone=True)
    if job.task == 2:
        save(model, folder, "start")
    if job.task in WORKERS:
        await_file(folder, "start.npz")
        np.save(os.path.join(folder, f"log-{job.task}.npy"), list(train(model, job.task)))
    if job.task == 3:
        await_file(folder, "log-2.npy")
        save(model, folder, "end")
    model.serve()
    del model
    job.close()


if sys.argv[1] == "simulate":
    simulate(sys.argv[2])
else:
    run(*sys.argv[1:])
