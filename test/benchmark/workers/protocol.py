"""Code that the workers written in Python share: they receive one task at a time, and answer in JSON.

A worker is started with the folder of the data, prints its name and version in one line, and then reads commands:
`check TASK STEPS` runs the task from its initial state, a training step STEPS times, and answers with numbers to
compare; `time TASK SECONDS` calls it for that long and answers with the microseconds of each call.
"""

import json
import os
import struct
import sys
import time

import numpy as np

checked_steps = 0  # STEPS of the last `check`
threads = int(os.environ.get("TFC_PEER_THREADS", "1"))


def feed(task, name, dtype, shape):
    """Returns a feed of a task from the file that the runner wrote."""
    path = os.path.join(sys.argv[1], f"{task}.{name}.bin")
    return np.fromfile(path, dtype).reshape(shape)


def variables(file):
    """Returns the variables in a safetensors file of the folder, which are f32 or i64."""
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
    """Answers commands until the input ends. make_task(task) returns (call, numbers): a function
    without arguments to time, and the list of numbers that answers `check`."""
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
    """Returns the losses of the first steps, as many as `check` requested."""
    return [step() for _ in range(checked_steps)]


def magnitude(array):
    """Returns the sum of the absolute values, in which two different results are unlikely to agree."""
    return [float(np.abs(np.asarray(array), dtype=np.float64).sum())]


def blas():
    """Returns the name of the BLAS that NumPy was built with."""
    try:
        info = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{info['name']} {info['version']}"
    except (TypeError, KeyError):
        return "unknown BLAS"


def kernel_feeds(task):
    """Returns (name, dtype, shape) of each feed of a task of kernels.graph other than `adam_update`."""
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
    """Returns the feeds of the task `loop_cell` other than the number of its steps."""
    shapes = {"xs": (1000, 1, 32), "w": (64, 128), "b": (128,)}
    return [feed("loop_cell", name, np.float32, shape) for name, shape in shapes.items()]


def iterations(task):
    """Returns the trip count of the loop of a task."""
    return int(feed(task, "n", np.int32, (1,))[0])
