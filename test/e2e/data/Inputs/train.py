"""Trains on rows that the graph reads, with `one` library in one process or as a `job`, and compares losses, variables
and a resumed run."""

import sys

import numpy as np

sys.path[:0] = [f"{__file__.rsplit('/', 3)[0]}/Inputs", f"{__file__.rsplit('/', 3)[0]}/tasks/Inputs"]
from model import Model

mode, library, digits, folder = sys.argv[1:5]
if mode == "job":
    from job import Job, read_own

    job = Job(sys.argv[5])
    model = job.create(library)
    own = lambda: read_own(model)
else:
    model = Model(library)
    own = lambda: {name: model[name] for name in model.variables}
model.open_dataset("digits", [digits])
is_first = mode != "job" or job.task == 0


def steps(count):
    return [model.train()[0] for _ in range(count)]


losses = steps(20)
model.save(f"{folder}/{mode}.safetensors")
losses += steps(40)
variables = own()
model.load(f"{folder}/{mode}.safetensors")
again = steps(40)
if is_first:
    assert losses[20:] == again
assert all(np.array_equal(variables[name], value) for name, value in own().items())
if mode == "one":
    np.savez(f"{folder}/one.npz", losses=losses, **variables)
elif mode == "job":
    one = np.load(f"{folder}/one.npz")
    if is_first:
        assert np.array_equal(one["losses"], losses)
    assert all(np.array_equal(one[name], value) for name, value in variables.items())
elif mode == "gpu":
    one = np.load(f"{folder}/one.npz")
    assert np.allclose(one["losses"], losses, rtol=1e-3), (one["losses"], losses)
if is_first:
    print(f"{mode}: loss {losses[0]:.2f} to {np.mean(losses[-5:]):.2f}")
if "batch.position" in variables:
    print("position", int(variables["batch.position"]))
if mode == "job":
    del model
    job.close()
