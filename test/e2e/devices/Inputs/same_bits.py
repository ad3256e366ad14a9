"""Compares a graph on several devices with the same graph whose entries are not divided, bit for bit.

same_bits.py TFC GRAPH WORK CALLS [RUNTIME]

CALLS is a Python file with a function `calls(rng)` that yields pairs of an entry and a dict of its feeds. Failing calls
must fail with the same status and message. After each call all variables are the same. Prints the number of calls and of failing ones. RUNTIME is
the library of another runtime, with which the divided graph is linked.
"""

import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
from model import Failed, Model


def compile_model(tfc, graph, path, *options):
    subprocess.run([tfc, "compile", graph, "-o", path, *options], check=True)
    return Model(path)


def link_model(tfc, graph, work, runtime):
    """Links an object of the graph and another runtime into a library, which exports what those of tfc do."""
    name = os.path.splitext(os.path.basename(graph))[0]
    paths = {key: os.path.join(work, name + "." + key) for key in ("o", "c", "so")}
    subprocess.run([tfc, "compile", graph, "-o", paths["o"], "--prefix=model"], check=True)
    with open(paths["c"], "w") as file:
        file.write(f'#include "{name}.h"\nconst tfc_library *tfc_library_get(void) {{ return model_library(); }}\n')
    command = ["cc", "-shared", "-fPIC", "-I" + work, paths["c"], paths["o"], runtime]
    subprocess.run([*command, "-lm", "-lpthread", "-o", paths["so"]], check=True)
    return Model(paths["so"])


def call(model, entry, feeds):
    try:
        return [np.asarray(value) for value in model.call(entry, **feeds)]
    except Failed as error:
        return f"{error.status}: {error}"


def is_same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and a == b
    return all(x.shape == y.shape and x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


def main():
    tfc, graph, work, script, *runtime = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    if runtime:
        divided = link_model(tfc, graph, work, runtime[0])
    else:
        divided = compile_model(tfc, graph, os.path.join(work, "divided.so"))
    whole = compile_model(tfc, graph, os.path.join(work, "whole.so"), "--disable=partition")
    scope = {}
    with open(script) as file:
        exec(compile(file.read(), script, "exec"), scope)
    count = failing = 0
    for entry, feeds in scope["calls"](np.random.default_rng(0)):
        results = [call(model, entry, feeds) for model in (divided, whole)]
        if not is_same(*results):
            sys.exit(f"{entry} {feeds}: {results[0]}\nundivided: {results[1]}")
        for name in divided.variables:
            if divided[name].tobytes() != whole[name].tobytes():
                sys.exit(f"{entry} {feeds}: variable {name} is {divided[name]}\nundivided: {whole[name]}")
        count += 1
        failing += isinstance(results[0], str)
    print(f"{count} calls, {failing} of them failing")


main()
