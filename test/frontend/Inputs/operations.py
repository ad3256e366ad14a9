"""Checks that readers support all operations that they list: operations.py READER FOLDER

Graphs with a node of each listed operation, and one of an operation that there is not, are checked by `tfc check`, which
has to refuse that one alone as unsupported. For ONNX there is a graph for each version with which a rule begins.
"""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NONE = "NoSuchOperation"


def write(writer, text, path):
    with open(path, "wb") as file:
        subprocess.run([sys.executable, os.path.join(HERE, "..", writer)], input=text.encode(), stdout=file, check=True)


def refused(path, *options):
    """The operations that are reported as unsupported."""
    done = subprocess.run(["tfc", "check", path, *options], capture_output=True, text=True)
    if done.returncode != 1:
        sys.exit(f"error: exit code {done.returncode} for {path}\n{done.stderr}")
    return set(re.findall(r"the operation '(\S+)'.* is not supported", done.stdout + done.stderr))


def onnx_graphs(operations, folder):
    least = {}
    for operation in operations:
        since = operation.get("since", 1)
        least[operation["op"]] = min(since, least.get(operation["op"], since))
    for version in sorted({operation.get("since", 1) for operation in operations}):
        ops = [op for op, since in sorted(least.items()) if since <= version] + [NONE]
        lines = [f"opset {version}", "graph main", "input x f32[2]"]
        lines += [f"y{i} = {op} x" for i, op in enumerate(ops)] + [f"output y{i}" for i in range(len(ops))]
        path = os.path.join(folder, f"opset{version}.onnx")
        write("onnx/Inputs/model.py", "\n".join(lines) + "\n", path)
        yield path, []


def tensorflow_graphs(operations, folder):
    ops = sorted({operation["op"] for operation in operations}) + [NONE]
    path = os.path.join(folder, "graph.pb")
    write("tensorflow/Inputs/graphdef.py", "".join(f"n{i} {op}\n" for i, op in enumerate(ops)), path)
    yield path, ["--entry", "all: ; " + ", ".join(f"n{i}" for i in range(len(ops)))]


def main():
    reader, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    listed = subprocess.run(["tfc-import", "--operations", reader], capture_output=True, text=True, check=True).stdout
    operations, wrong = json.loads(listed), set()
    graphs = onnx_graphs if reader == "onnx" else tensorflow_graphs
    for path, options in graphs(operations, folder):
        found = refused(path, *options)
        if found != {NONE}:
            print(f"error: {path}: {sorted(found)} are not supported, but only '{NONE}' is not listed")
            wrong |= found
    print(f"{len({operation['op'] for operation in operations})} operations, {len(wrong)} wrong")
    return 1 if wrong else 0


sys.exit(main())
