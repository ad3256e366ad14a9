"""Runs the parts of test/benchmark/inference without ONNX and its peers: inference_parts.py FOLDER TFC

FOLDER has model.onnx, a product of f32[n, 2] with a matrix.
"""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree
from types import SimpleNamespace

import numpy as np

BENCHMARK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmark")
WORKERS = os.path.join(BENCHMARK, "workers")
sys.path += [BENCHMARK, WORKERS]
from inference_model import compare, multiply_adds
from inference_report import picture, print_report

# Operation -> (sizes of its inputs, of its result).
NODES = {
    "Conv": ([(1, 4, 5, 5), (6, 2, 1, 3)], (1, 6, 2, 3)),
    "ConvTranspose": ([(1, 2, 3), (2, 1, 4)], (1, 1, 9)),
    "MatMul": ([(2, 3, 4), (4, 5)], (2, 3, 5)),
    "Gemm": ([(5, 2), (5, 3)], (2, 3)),  # the first one transposed
    "LSTM": ([(4, 3, 2), (1, 24, 10), (1, 24, 6)], (4, 1, 3, 6)),
    "Relu": ([(4,)], (4,)),
}
ROWS = [
    {"model": "net", "threads": 1, "multiply_adds": 1e8, "weight_bytes": 40e6, "difference": 1e-6, "errors": [],
     "compile": {"seconds": 0.5, "peak_mb": 100},
     "systems": {"tfc": {"median_ms": 2.0, "best_ms": 1.5, "p10_ms": 1.8, "p90_ms": 2.2, "load_s": 0.25, "peak_mb": 50},
                 "ort": {"median_ms": 3.0, "best_ms": 1.5, "p10_ms": 2.8, "p90_ms": 3.2, "load_s": 0.5, "peak_mb": 60}}},
    {"model": "broken", "threads": 2, "errors": ["ONNX Runtime: no such operation"], "systems": {"tfc": {}, "ort": {}}},
]


def count(operation):
    inputs, result = NODES[operation]
    names = [str(i) for i in range(len(inputs))]
    attributes = [SimpleNamespace(name="transA", i=1)] if operation == "Gemm" else []
    node = SimpleNamespace(op_type=operation, input=names, output=["y"], attribute=attributes)
    return int(multiply_adds(node, dict(zip(names, inputs)) | {"y": result}))


def call_library(folder, tfc):
    """Lets a worker time the library and write its result."""
    library = os.path.join(folder, "model.so")
    command = [tfc, "compile", os.path.join(folder, "model.onnx"), "-o", library, "--quiet", "--bound", "n=8"]
    subprocess.run(command, check=True)
    description = {"inputs": ["x"], "outputs": [{"name": "y", "shape": [3, 2], "dtype": "float32"}]}
    with open(os.path.join(folder, "description.json"), "w") as file:
        json.dump(description, file)
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.save(os.path.join(folder, "feed.0.npy"), x)
    command = [sys.executable, os.path.join(WORKERS, "inference_worker.py"), "tfc", library, folder, "1"]
    asked = subprocess.run(command, input="load\nresults\ntime 0.01\n", capture_output=True, text=True, check=True)
    print("two calls or more:", len(json.loads(asked.stdout.splitlines()[-1])) >= 2)
    return x @ np.array([[1, 2], [3, 4]], np.float32)


def main():
    folder, tfc = sys.argv[1:]
    print("multiply-adds:", {operation: count(operation) for operation in NODES})
    y = call_library(folder, tfc)
    for system, result in (("ort", y), ("other", y / 2), ("short", y[:2])):
        np.save(os.path.join(folder, f"{system}.0.npy"), result)
        print(json.dumps(compare(folder, system, "tfc")))
    report = {"processor": "one", "systems": dict.fromkeys(("tfc", "ort")), "rows": ROWS,
              "limits": {"1": {"fma_f32": 200.0, "read": 30.0}}}
    print_report(report)
    texts = [text.text for text in xml.etree.ElementTree.fromstring(picture(report)).iter("{http://www.w3.org/2000/svg}text")]
    print("picture:", *(text for text in texts if re.match(r"net|\d", text)))


main()
