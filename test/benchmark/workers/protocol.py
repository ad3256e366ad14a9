"""Code that the workers written in Python share: they receive one task at a time, and answer in JSON.

A worker is started with the folder of the data, says who it is in one line, and then reads lines:
`check TASK STEPS` runs the task from its initial state, a training step STEPS times, and answers with
numbers to compare, `time TASK SECONDS` answers with the microseconds of each call.
"""

import json
import os
import struct
import sys
import time

import numpy as np

checked_steps = 0  # of a training step, which `check` asks for


def feed(task, name, dtype, shape):
    """A feed of a task, which the runner wrote."""
    path = os.path.join(sys.argv[1], f"{task}.{name}.bin")
    return np.fromfile(path, dtype).reshape(shape)


def variables(file):
    """The variables in a safetensors file of the folder, all f32 or i64."""
    with open(os.path.join(sys.argv[1], file), "rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        header, data = json.loads(stream.read(length)), stream.read()
    header.pop("__metadata__", None)
    dtypes = {"F32": np.float32, "I64": np.int64}
    return {
        name: np.frombuffer(data[slice(*info["data_offsets"])], dtypes[info["dtype"]])
        .reshape(info["shape"])
        .copy()
        for name, info in header.items()
    }


def _time(call, seconds):
    times, clock = [], time.perf_counter
    end = clock() + seconds
    while len(times) < 3 or clock() < end:
        start = clock()
        call()
        times.append(round((clock() - start) * 1e6, 3))
    return times


def serve(name, version, make_task):
    """Answers until the input ends. make_task(task) gives (call, numbers): a function without
    arguments to time, and what `check` answers with, a list of numbers."""
    print(json.dumps({"name": name, "version": version}), flush=True)
    calls = {}
    for line in sys.stdin:
        command, task, *rest = line.split()
        if command == "check":
            global checked_steps
            checked_steps = int(rest[0])
            calls[task], answer = make_task(task)
        else:
            answer = _time(calls[task], float(rest[0]))
        print(json.dumps(answer), flush=True)


def train(step):
    """The losses of the first steps, as `check` wants them."""
    return [step() for _ in range(checked_steps)]


def magnitude(array):
    """The sum of the absolute values: two results that differ are unlikely to share it."""
    return [float(np.abs(np.asarray(array), dtype=np.float64).sum())]


def kernel_feeds(task):
    """(name, dtype, shape) of each feed of a task of kernels.graph other than `adam_update`."""
    if task == "matmul_transposed_512":
        shapes = {"a": (512, 512), "b": (512, 512)}
    elif task.startswith("matmul_"):
        m, k, n = map(int, task.split("_")[1:])
        shapes = {"a": (m, k), "b": (k, n)}
    else:
        names = "xy" if task == "add_two" else "x"
        shapes = {name: (1024, 1024) for name in names}
    return [(name, np.float32, shape) for name, shape in shapes.items()]


def cell_feeds():
    """The feeds of the task `loop_cell` besides the number of its steps."""
    shapes = {"xs": (1000, 1, 32), "w": (64, 128), "b": (128,)}
    return [feed("loop_cell", name, np.float32, shape) for name, shape in shapes.items()]


def iterations(task):
    """The number of times that the body of a loop runs."""
    return int(feed(task, "n", np.int32, (1,))[0])
