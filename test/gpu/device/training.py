"""Training steps of whole networks: their losses are those of the CPU, and their time is measured beside torch's and JAX's."""

import os
import statistics
import sys
import time

import numpy as np

# The networks that are trained, and whether peers know them.
NETWORKS = {"lenet": True, "lstm": True, "gpt": True, "resnet50": True}
QUICK_NETWORKS = {"mlp": False}
# Each is compiled with each of these.
PRECISIONS = "f32", "tf32"
STEPS = 4
# The largest relative difference of a loss, and its factor in each step: a difference in the last bit of a feed grows from
# step to step, of resnet50 on a CPU to 5e-3 in the fourth.
BOUNDS = {"f32": 1e-3, "tf32": 1e-2}
GROWTH = 1, 1, 10, 10
SECONDS = 1.5


def library(folder, task, kind):
    return os.path.join(folder, f"train-{task}-{kind}.so")


def feeds_of(model, entry):
    """The same in every run: labels and words are small, so that they are valid."""
    random, feeds = np.random.default_rng(11), {}
    for (dtype, text), (name, _) in zip(model.feed_types(entry), model.entries[entry][0]):
        shape = [int(size) for size in text.partition("[")[2].rstrip("]").split(",")]
        feeds[name] = random.normal(size=shape).astype(dtype) if dtype == np.float32 else random.integers(0, 10, shape)
    return feeds


def losses(model, task, feeds):
    return [float(model.call(task, **feeds)[0]) for _ in range(STEPS)]


def differ(got, want, bound):
    return not all(abs(a - b) <= factor * bound * abs(b) for a, b, factor in zip(got, want, GROWTH))


def seconds_of(step):
    times, end = [], time.perf_counter() + SECONDS
    while len(times) < 5 or time.perf_counter() < end:
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def train(folder, task, report, has_peers):
    """Adds a figure of a network for each precision; returns lines about losses that differ."""
    from model import Model

    wrong = []
    cpu = Model(library(folder, task, "cpu"))
    feeds = feeds_of(cpu, task)
    state = os.path.join(folder, task + ".safetensors")
    cpu.save(state)
    for name, value in feeds.items():
        (value if value.dtype == np.float32 else value.astype(np.int32)).tofile(os.path.join(folder, f"{task}.{name}.bin"))
    expected = losses(cpu, task, feeds)
    del cpu
    for precision in PRECISIONS:
        model = Model(library(folder, task, precision))
        model.load(state)
        got = losses(model, task, feeds)
        if differ(got, expected, BOUNDS[precision]):
            wrong.append(f"{task} in {precision}: losses are {got}, on the CPU {expected}")
        seconds = seconds_of(lambda: model.call(task, **feeds))
        del model
        figure = dict(name=task, precision=precision, milliseconds=seconds * 1e3, peers={})
        for peer in ("torch", "jax") if has_peers else ():
            figure["peers"][peer] = peer_of(folder, task, precision, peer, got)
        report["training"].append(figure)
        show(figure)
    os.remove(state)
    return wrong


def peer_of(folder, task, precision, peer, expected):
    """The milliseconds of a peer's step, or why there are none."""
    from measuring import WORKERS, Worker

    environment = dict(TFC_PEER_DEVICE="cuda", TFC_PEER_PRECISION=precision, XLA_PYTHON_CLIENT_PREALLOCATE="false",
                       JAX_DEFAULT_MATMUL_PRECISION="float32" if precision == "f32" else "tensorfloat32")
    command = [sys.executable, os.path.join(WORKERS, f"{peer}_networks.py"), folder]
    try:
        worker = Worker(peer, command, environment)
        got = worker.ask("check", task, STEPS)
        if differ(got, expected, 1e-2):
            return f"has other losses: {got}"
        worker.ask("time", task, 0.2)
        milliseconds = statistics.median(worker.ask("time", task, SECONDS)) / 1e3
        worker.end()
        return milliseconds
    except (OSError, RuntimeError) as error:
        return str(error)[-300:]


def show(figure):
    peers = "".join(f"  {peer} {value:.2f} ms ({value / figure['milliseconds']:.2f})" if isinstance(value, float) else f"  {peer}: {value}"
                    for peer, value in figure["peers"].items())
    print(f"  a step of {figure['name']} in {figure['precision']} {figure['milliseconds']:9.2f} ms{peers}", flush=True)
