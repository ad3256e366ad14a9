"""Training steps of whole networks: their losses are those of the CPU, and their time is measured beside torch's and JAX's."""

import contextlib
import json
import os
import statistics
import sys
import time

import numpy as np

# The networks that are trained.
NETWORKS = "lenet", "lstm", "gpt", "resnet50"
QUICK_NETWORKS = ("mlp",)
# Those of table 1 in the paper on TensorFlow are trained only if they are named. A step takes a CPU many seconds, so
# preparation records the losses. As in the paper's benchmarks, their feeds are on the GPU while they are timed.
TABLE_1 = "alexnet_owt", "overfeat", "vgg_a", "googlenet"
PEERS = "torch", "jax"
# Each is compiled with each of these.
PRECISIONS = "f32", "tf32"
STEPS = 4
# The largest relative difference of a loss, and its factor in each step: a difference in the last bit of a feed grows from
# step to step, of resnet50 on a CPU to 5e-3 in the fourth.
BOUNDS = {"f32": 1e-3, "tf32": 1e-2, "peers": 1e-2}
GROWTH = 1, 1, 10, 10
# The losses of TABLE_1 begin near log(1000) and fall by 1e-4 to 1e-2 of that in so many steps; rounding hardly changes
# them.
RECORDED_STEPS = 3
RECORDED_BOUNDS = {"f32": 2e-5, "tf32": 5e-5, "peers": 2e-4}
SECONDS = 1.5


def library(folder, task, kind):
    return os.path.join(folder, f"train-{task}-{kind}.so")


def losses_file(folder, task):
    return os.path.join(folder, f"train-{task}.losses.json")


def chosen(only, quick):
    """The networks that are named, or all but those of TABLE_1."""
    networks = QUICK_NETWORKS if quick else NETWORKS
    return [task for task in (*networks, *TABLE_1) if (task in only if only else task in networks)]


def feeds_of(model, entry):
    """The same in every run: labels and words are small, so that they are valid."""
    random, feeds = np.random.default_rng(11), {}
    for (dtype, text), (name, _) in zip(model.feed_types(entry), model.entries[entry][0]):
        shape = [int(size) for size in text.partition("[")[2].rstrip("]").split(",")]
        values = random.normal(size=shape) if dtype == np.float32 else random.integers(0, 10, shape)
        feeds[name] = values.astype(dtype)
    return feeds


def losses(model, task, feeds, steps=STEPS):
    return [float(model.call(task, **feeds)[0]) for _ in range(steps)]


def record(folder, task):
    """Records the losses on the CPU for a machine with a GPU; returns the seconds of a step."""
    from model import Model

    cpu = Model(library(folder, task, "cpu"))
    feeds, begin = feeds_of(cpu, task), time.perf_counter()
    recorded = losses(cpu, task, feeds, RECORDED_STEPS)
    with open(losses_file(folder, task), "w") as file:
        json.dump(recorded, file)
    return (time.perf_counter() - begin) / RECORDED_STEPS


@contextlib.contextmanager
def on_gpu(arrays):
    """Copies of arrays in the memory of the GPU."""
    from device_memory import DeviceMemory

    memory, copies = DeviceMemory(), []
    try:
        for array in arrays:
            copies.append(memory.to_device(array))
        yield copies
    finally:
        for copy in copies:
            memory.free(copy)
        memory.close()


def differ(task, kind, got, want):
    """Returns true if losses differ by more than what is allowed to a precision or to peers."""
    bounds, growth = (RECORDED_BOUNDS, [1] * RECORDED_STEPS) if task in TABLE_1 else (BOUNDS, GROWTH)
    return not all(abs(a - b) <= factor * bounds[kind] * abs(b) for a, b, factor in zip(got, want, growth))


def seconds_of(step):
    times, end = [], time.perf_counter() + SECONDS
    while len(times) < 5 or time.perf_counter() < end:
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def seconds_of_step(model, task, feeds):
    if task not in TABLE_1:
        return seconds_of(lambda: model.call(task, **feeds))
    with on_gpu(feeds.values()) as given:
        loss = np.zeros((), np.float32)
        return seconds_of(lambda: model.call_into(task, given, [loss]))


def train(folder, task, report, peers):
    """Adds a figure of a network for each precision; returns lines about losses that differ."""
    from model import Model

    wrong, is_recorded = [], task in TABLE_1
    first = Model(library(folder, task, PRECISIONS[0] if is_recorded else "cpu"))
    feeds = feeds_of(first, task)
    state = os.path.join(folder, task + ".safetensors")
    first.save(state)
    for name, value in feeds.items():
        value.tofile(os.path.join(folder, f"{task}.{name}.bin"))
    if is_recorded:
        with open(losses_file(folder, task)) as file:
            expected = json.load(file)
    else:
        expected = losses(first, task, feeds)
    del first
    for precision in PRECISIONS:
        model = Model(library(folder, task, precision))
        model.load(state)
        got = losses(model, task, feeds, len(expected))
        if differ(task, precision, got, expected):
            wrong.append(f"{task} in {precision}: losses are {got}, on the CPU {expected}")
        seconds = seconds_of_step(model, task, feeds)
        del model
        figure = dict(name=task, precision=precision, milliseconds=seconds * 1e3, losses=got, peers={})
        for peer in peers:
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
        got = worker.ask("check", task, len(expected))
        if differ(task, "peers", got, expected):
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
