"""Writes a small set of conformance tests, in the form of ONNX's own: make_data.py FOLDER

`test_neg` passes, `test_abs` has a wrong recorded output, `test_foo` is of an unknown operator.
"""

import os
import pathlib
import struct
import subprocess
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.append(os.path.join(TESTS, "frontend", "Inputs"))
from protobuf import block, number


def tensor(values):
    return number(1, len(values)) + number(2, 1) + block(9, struct.pack(f"<{len(values)}f", *values))


def write(folder, op, x, y):
    (folder / "test_data_set_0").mkdir(parents=True)
    (folder / "test_data_set_0" / "input_0.pb").write_bytes(tensor(x))
    (folder / "test_data_set_0" / "output_0.pb").write_bytes(tensor(y))
    text = f"opset 13\ngraph main\ninput x f32[2]\ny = {op} x\noutput y f32[2]\n"
    writer = os.path.join(TESTS, "frontend", "onnx", "Inputs", "model.py")
    model = subprocess.run([sys.executable, writer], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
    (folder / "model.onnx").write_bytes(model)


node = pathlib.Path(sys.argv[1]) / "node"
write(node / "test_neg", "Neg", [1, -2], [-1, 2])
write(node / "test_abs", "Abs", [1, -2], [1, 3])
write(node / "test_foo", "Foo", [1, -2], [1, 2])
