"""Records the results of ONNX Runtime for the calls of the reduced models: record.py [NAME...]

Needs the packages `onnx` and `onnxruntime`, which the tests do without.
"""

import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from calls import CALLS, HERE, feeds_of, write_onnx


def completed(path):
    """The model with the types of its outputs, which ONNX Runtime wants."""
    model = onnx.load(path)
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    onnx.checker.check_model(inferred)
    return inferred.SerializeToString()


def main():
    for name in sys.argv[1:] or CALLS:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            write_onnx(name, path)
            session = onnxruntime.InferenceSession(completed(path), providers=["CPUExecutionProvider"])
        results = {}
        for i, sizes in enumerate(CALLS[name][2]):
            for output, value in zip(session.get_outputs(), session.run(None, feeds_of(name, sizes))):
                results[f"{i}.{output.name}"] = value
                print(name, sizes, output.name, value.dtype, value.shape, f"{value.std():.3g}")
        np.savez_compressed(os.path.join(HERE, name + ".npz"), **results)


main()
