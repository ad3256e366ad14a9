"""Trains a model on a CPU and on a GPU: train.py GRAPH FOLDER STEPS NAME=SIZE...

Both start with the same variables and get the same feeds; the losses of each step and the variables at the end differ
by at most 1e-3.
"""

import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from model import Model

LIMIT = 1e-3


def compiled(graph, library, *options):
    subprocess.run(["tfc", "compile", graph, "-o", library, *options], check=True)
    return Model(library, threads=1)


def feeds_of(random, model, sizes):
    """Pixels, tokens and labels: small integers are valid for all of them. Scalars are steps or rates."""
    feeds = {}
    for (name, _), (dtype, text) in zip(model.entries["train"][0], model.feed_types("train")):
        dims = text.partition("[")[2].rstrip("]")
        shape = [int(d) if d.isdigit() else sizes[d] for d in dims.split(", ") if d]
        whole = random.integers(1, 10, size=shape)
        if name == "length":
            whole = np.full(shape, sizes["time"])
        feeds[name] = (whole if np.issubdtype(dtype, np.integer) else whole / 1000).astype(dtype)
    return feeds


def main():
    graph, folder, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    sizes = {name: int(size) for name, size in (given.split("=") for given in sys.argv[4:])}
    base = os.path.join(folder, os.path.basename(graph))
    cpu, gpu = compiled(graph, base + ".cpu.so"), compiled(graph, base + ".gpu.so", "--device", "gpu:0")
    cpu.save(base + ".safetensors")
    gpu.load(base + ".safetensors")
    random = np.random.default_rng(1)
    worst = 0
    for step in range(steps):
        feeds = feeds_of(random, cpu, sizes)
        losses = [np.ravel(model.call("train", **feeds)[0])[0] for model in (cpu, gpu)]
        worst = max(worst, abs(losses[0] - losses[1]))
        print(f"step {step}: {losses[0]:.6f} on the CPU, {losses[1]:.6f} on the GPU")
    gpu.save(base + ".gpu.safetensors")
    gpu.load(base + ".gpu.safetensors")
    for name in cpu.variables:
        on_cpu, on_gpu = (np.asarray(model[name], dtype=np.float64) for model in (cpu, gpu))
        worst = max(worst, np.max(np.abs(on_cpu - on_gpu), initial=0))
    print(f"largest difference {worst:.3g}")
    return 0 if worst <= LIMIT else 1


sys.exit(main())
