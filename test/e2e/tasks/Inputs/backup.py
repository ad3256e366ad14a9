"""backup.py MODEL.so LIBTFCMPI FOLDER COUNT: a process of a job of two tasks with variables and three workers, of whose
gradients a step takes the first COUNT. The first process is the chief, and writes which gradients it has taken.
backup.py simulate FOLDER: simulates steps with these gradients, and compares the variables."""

import os
import sys

import numpy as np
from batches import batch_of
from job import Failed, Job, read_own

STEPS, WORKERS, RATE, DECAY = 40, 3, 0.2, 0.9


def differentiate(weights, number):
    """The gradients of a batch."""
    x, label = batch_of(number)
    h = np.tanh(x.astype(np.float64) @ weights["first.w"] + weights["first.b"])
    product = h @ weights["second.w"] + weights["second.b"]
    logits = product * weights["temperature"]
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    slope = (p - np.eye(3)[label]) / len(x)
    gradients = {"temperature": (slope * product).sum()}
    slope = slope * weights["temperature"]
    gradients["second.w"], gradients["second.b"] = h.T @ slope, slope.sum(axis=0)
    slope = slope @ weights["second.w"].T * (1 - h**2)
    gradients["first.w"], gradients["first.b"] = x.T.astype(np.float64) @ slope, slope.sum(axis=0)
    return gradients


def read(folder, name):
    """The variables of both tasks."""
    files = [np.load(os.path.join(folder, f"{name}-{task}.npz")) for task in (0, 1)]
    return {key: file[key].astype(np.float64) for file in files for key in file}


def simulate(folder):
    log, dropped = (np.load(os.path.join(folder, name)) for name in ("log.npy", "dropped.npy"))
    assert len(set(log.ravel())) == log.size, log  # no gradient counts twice
    start = read(folder, "start")
    weights = dict(start)
    velocity = {name: np.zeros_like(value) for name, value in weights.items()}
    for batches in log:
        gradients = [differentiate(weights, number) for number in batches]
        for name in weights:
            velocity[name] = DECAY * velocity[name] + np.mean([each[name] for each in gradients], axis=0)
            weights[name] = weights[name] - RATE * velocity[name]
    end = read(folder, "end")
    for name, value in weights.items():
        np.testing.assert_allclose(end[name], value, rtol=1e-3, atol=1e-4, err_msg=name)
        assert np.abs(value - start[name]).max() > 0.01, name
    print(f"{len(log)} steps of {log.shape[1]} gradients, {dropped} were dropped")


def save_own(model, folder, name, task):
    own = {key: value for key, value in read_own(model).items() if not key.startswith(("sync.", "opt."))}
    np.savez(os.path.join(folder, f"{name}-{task}"), **own)


def work(model, task):
    number = 1000 * task
    while True:
        try:
            (step,) = model.call("begin")
        except Failed as error:
            assert error.status == "closed", error
            return
        x, label = batch_of(number)
        model.call("push", x=x, label=label, step=step, batch=number)
        number += 1


def lead(model, folder):
    log, dropped = [], 0
    for _ in range(STEPS):
        model.call("release", count=WORKERS)
        batches, late = model.call("collect")
        model.call("update")
        log.append(batches)
        dropped += late
    model.call("finish")
    np.save(os.path.join(folder, "log.npy"), log)
    np.save(os.path.join(folder, "dropped.npy"), dropped)


def run(path, library, folder):
    job = Job(library)
    model = job.create(path, alone=True)
    if job.task < 2:
        save_own(model, folder, "start", job.task)
    if job.task == 0:
        lead(model, folder)
    elif job.task >= 2:
        work(model, job.task)
    model.serve()
    if job.task < 2:
        save_own(model, folder, "end", job.task)
    del model
    job.close()


if sys.argv[1] == "simulate":
    simulate(sys.argv[2])
else:
    run(*sys.argv[1:])
