"""Compares gradients with central differences: `check.py MODULE.mlir`.

Entries take numbers for integers (`// count: 0 1 7` lists the values to try) and random f64 tensors.
Their first result is a scalar; the others are its gradients with respect to the f64 arguments, in order.
"""

import re
import subprocess
import sys

import numpy as np
from evaluate import Machine, parse, parse_type

SIMPLIFY = "--tfc-insert-checks --tfc-decompose-composites --tfc-fold-constants".split() + (
    "--tfc-simplify-algebra --tfc-hoist-invariants --canonicalize --cse --tfc-drop-tapes".split()
)


def load(path, *passes):
    command = ["tfc-opt", "--tfc-resolve-state", "--tfc-build-gradients", *passes,
               "--mlir-print-op-generic", path]
    output = subprocess.run(command, capture_output=True, text=True)
    if output.returncode != 0:
        raise SystemExit(f"{path}: {' '.join(command)}\n{output.stderr}")
    return parse(output.stdout)


def argument_types(entry):
    signature = entry.attrs["function_type"]
    return [parse_type(t) for t in re.findall(r"tensor<.*?>", signature.partition("->")[0])]


def differences(entry, arguments, position, step=1e-5):
    """The gradient of the first result with respect to an argument."""
    base = arguments[position]
    gradient = np.zeros_like(base)
    for index in np.ndindex(base.shape):
        values = []
        for sign in 1, -1:
            moved = base.copy()
            moved[index] += sign * step
            changed = arguments[:position] + [moved] + arguments[position + 1 :]
            values.append(Machine().run(entry, changed)[0])
        gradient[index] = (values[0] - values[1]) / (2 * step)
    return gradient


def check(name, entry, count, random, tolerance=1e-6):
    types = argument_types(entry)
    arguments = [
        np.array(count, dtype) if not np.issubdtype(dtype, np.floating)
        else random.uniform(0.2, 1.2, shape) for shape, dtype in types
    ]
    results = Machine().run(entry, arguments)
    floats = [i for i, (_, dtype) in enumerate(types) if dtype == np.float64]
    for gradient, position in zip(results[1:], floats, strict=True):
        expected = differences(entry, arguments, position)
        error = np.max(np.abs(gradient - expected) / (1 + np.abs(expected)), initial=0)
        if not error < tolerance:
            raise SystemExit(f"{name}, count {count}, argument {position}: off by {error}\n"
                             f"{gradient}\n{expected}")


def main(path):
    with open(path) as file:
        counts = re.search(r"// count: ([\d ]+)", file.read())
    for passes in [], SIMPLIFY:
        for name, entry in load(path, *passes).items():
            for count in map(int, counts[1].split()):
                check(name, entry, count, np.random.default_rng(count))


if __name__ == "__main__":
    main(sys.argv[1])
