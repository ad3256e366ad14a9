"""checkpoints.py MODEL.so PATH COUNT LIBTFCMPI|- save|load|faults: saves and loads as a process of a job, or alone."""

import json
import os
import sys
import threading

import numpy as np
from job import Failed, Job, Model, read_own

path, checkpoint, count, library, mode = sys.argv[1:]
job = None if library == "-" else Job(library)
assert not job or job.count == int(count)
model = job.create(path, task_timeout_ms=60000) if job else Model(path, threads=1)
task = job.task if job else 0
folder = os.path.dirname(checkpoint)


def expect(steps):
    for name, value in read_own(model).items():
        step = {"a": 1.5, "b": 2, "c": 0.25, "d": 0, "steps": 1}[name]
        if name != "steps" or task == 0:
            np.testing.assert_array_equal(value, np.full_like(value, steps * step), err_msg=name)


def fail(status, part, function, *arguments):
    before = read_own(model)
    try:
        function(*arguments)
        sys.exit(f"task {task}: a call succeeded")
    except Failed as error:
        assert error.status == status and part in str(error), f"task {task}: {error.status}: {error}"
    for name, value in read_own(model).items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)


def shards():
    return sorted(name for name in os.listdir(folder) if "-of-" in name)


def readers_see_the_same(names, values):
    """The files can be read without a job: each has the layout of safetensors."""
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
        values.update((key, name) for key in header if key != "__metadata__")


if mode == "save":
    for steps in range(1, 4):
        model.call("step")
        model.save(checkpoint)
        expect(steps)
    if task == 0:
        names = shards()
        assert len(names) == 3, names
        with open(checkpoint) as file:
            index = json.load(file)
        found = {}
        readers_see_the_same(names, found)
        assert index["weight_map"] == found, (index, found)
        assert set(found) == {"a", "b", "c", "d", "steps"}
    print("saved", flush=True)
elif mode == "load":
    model.load(checkpoint)
    expect(3)
    model.call("step")
    expect(4)
    print("loaded", flush=True)
else:
    model.load(checkpoint)
    expect(3)
    model.call("step")
    # A path that only one process cannot write, and then one that none can.
    fail("not found", "cannot write", model.save, checkpoint if task else folder + "/none/w.safetensors")
    fail("not found", "cannot write", model.save, folder + "/none/w.safetensors")
    model.load(checkpoint)
    expect(3)
    model.call("step")
    damaged = os.path.join(folder, "damaged.safetensors")
    if task == 1:
        names = shards()
        for i, name in enumerate(names):
            with open(os.path.join(folder, name), "rb") as file:
                data = bytearray(file.read())
            if i == 1:
                data[-1] ^= 1
            with open(os.path.join(folder, f"x{i}"), "wb") as file:
                file.write(data)
        with open(checkpoint) as file:
            index = json.load(file)
        index["weight_map"] = {k: f"x{names.index(v)}" for k, v in index["weight_map"].items()}
        with open(damaged, "w") as file:
            json.dump(index, file)
        with open(damaged + ".outside", "w") as file:
            json.dump({"weight_map": {"a": "../x0"}}, file)
    model.call("step")  # all wait for the files
    fail("data loss", "is damaged: its checksum is", model.load, damaged)
    fail("data loss", "expected the name of a file in the same directory", model.load, damaged + ".outside")
    model.load(checkpoint)
    expect(3)
    print("failed together", flush=True)
del model
if job:
    job.close()
