"""reshard.py MODEL.so FOLDER save|load [LIBTFCMPI]: trains 20 steps and saves after 10, or loads that and makes the last
10 with another number of shards, in a job or in one process, and compares the variables that the shards make up."""

import glob
import json
import re
import sys

import numpy as np
from job import Job, Model, read_own

library, folder, mode = sys.argv[1:4]
job = Job(sys.argv[4]) if len(sys.argv) > 4 else None
model = job.create(library) if job else Model(library, threads=1)
is_first = job is None or job.task == 0


def train(first, last):
    losses = []
    for step in range(first, last):
        rng = np.random.default_rng(step)
        ids, label = rng.integers(0, 101, 48).astype(np.int32), rng.integers(0, 13, 48).astype(np.int32)
        losses.append(model.call("train", ids=ids, label=label)[0])
    return losses


def assemble(values, find, axis, is_interleaved):
    """The whole of the variables whose names `find` matches, which has the number of the shard as its group."""
    parts = {int(found[1]): value for name, value in values.items() if (found := re.fullmatch(find, name))}
    parts = [parts[k] for k in range(len(parts))]
    if not is_interleaved:
        return np.concatenate(parts, axis)
    whole = np.empty((sum(len(part) for part in parts), *parts[0].shape[1:]), parts[0].dtype)
    for k, part in enumerate(parts):
        whole[k :: len(parts)] = part
    return whole


def read_files(index):
    """All tensors of a checkpoint, by NumPy alone."""
    values = {}
    for name in set(json.load(open(index))["weight_map"].values()):
        data = open(f"{folder}/{name}", "rb").read()
        size = int.from_bytes(data[:8], "little")
        for tensor, what in json.loads(data[8 : 8 + size]).items():
            if tensor != "__metadata__" and what["dtype"] == "F32":
                begin, end = (8 + size + offset for offset in what["data_offsets"])
                values[tensor] = np.frombuffer(data[begin:end], np.float32).reshape(what["shape"])
    return values


def wholes(values):
    """Variables and slots without regard to the number of shards."""
    found = {}
    slots = {name.split("/")[0] + "/" for name in values if name.startswith("opt.") and "/" in name}
    for slot in ("", *sorted(slots)):
        slot_of = re.escape(slot)
        found[slot + "table"] = assemble(values, slot_of + r"words\.parts\.(\d+)\.table", 0, True)
        found[slot + "w"] = assemble(values, slot_of + r"scores\.blocks\.(\d+)\.w", 1, False)
        found[slot + "b"] = assemble(values, slot_of + r"scores\.blocks\.(\d+)\.b", 0, False)
        for name in ("first.w", "first.b", "second.w", "second.b"):
            of = slot_of + r"shared\.parts\.(\d+)\.weight/copies\.\d+\." + re.escape(name)
            found[slot + name] = assemble(values, of, 0, False)
    return found


path = f"{folder}/w.safetensors"
if mode == "save":
    model.call("start")
    losses = train(0, 10)
    model.save(path)
    losses += train(10, 20)
    model.save(f"{folder}/end.safetensors")
    if is_first:
        np.save(f"{folder}/losses.npy", losses)
        print(f"{len(losses)} losses, saved after 10", flush=True)
else:
    model.load(path)
    losses = train(10, 20)
    end = f"{folder}/{library.rsplit('/', 1)[1]}.safetensors"
    model.save(end)
    if is_first:
        np.testing.assert_allclose(losses, np.load(f"{folder}/losses.npy")[10:], rtol=1e-5)
        print(f"{len(losses)} losses agree", flush=True)
        expected = wholes(read_files(f"{folder}/end.safetensors"))
        got = wholes(read_files(end) if job else {name: model[name] for name in model.variables})
        for name, value in got.items():
            np.testing.assert_allclose(value, expected[name], rtol=1e-3, atol=2e-5, err_msg=name)
        slots = {name.split("/")[0] for name in got if "/" in name}
        print(f"table, classes, network and {len(slots)} slots of each agree", flush=True)
del model
if job:
    job.close()
