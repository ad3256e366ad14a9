"""Compiles and calls models that are written as text (test/frontend/onnx/Inputs/model.py), and compares their outputs
with NumPy's.

    from onnx_case import Cases
    cases = Cases(sys.argv[1])
    cases.check("y = Neg x", {"x": x}, {"y": -x})
    cases.finish()
"""

import os
import subprocess
import sys

import numpy as np

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "frontend", "onnx", "Inputs",
                     "model.py")


class Cases:
    def __init__(self, folder, tfc="tfc"):
        self.folder, self.tfc = folder, tfc
        self.count = self.wrong = 0

    def save(self, kind, values):
        options = []
        for name, value in values.items():
            path = os.path.join(self.folder, name + ".npy")
            np.save(path, value)
            options += [kind, f"{name}={path}"]
        return options

    def run(self, text, feeds, fixed):
        """The outputs of the model by name, or None after an error."""
        os.makedirs(self.folder, exist_ok=True)
        model, out = os.path.join(self.folder, "model.onnx"), os.path.join(self.folder, "out")
        with open(model, "wb") as file:
            subprocess.run([sys.executable, MODEL], input=text.encode(), stdout=file, check=True)
        command = [self.tfc, "run", model, "--quiet", "--fetch-dir", out]
        command += self.save("--feed", feeds) + self.save("--fix", fixed)
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            print(text + result.stdout + result.stderr)
            return None
        return lambda name: np.load(os.path.join(out, name + ".npy"))

    def text_of(self, nodes, inputs, outputs, opset=17, types={}, before=""):
        """The text of a model."""
        names = {np.dtype(k): v for k, v in (("f4", "f32"), ("f8", "f64"), ("f2", "f16"), ("i1", "i8"), ("i2", "i16"),
                                             ("i4", "i32"), ("i8", "i64"), ("u1", "u8"), ("u2", "u16"), ("u4", "u32"),
                                             ("u8", "u64"), ("?", "bool"))}
        lines = [f"opset {opset}", before, "graph main"]
        for name, value in inputs.items():
            value = np.asarray(value)
            lines.append(f"input {name} {types.get(name) or names[value.dtype]}[{','.join(map(str, value.shape))}]")
        lines += [nodes] + [f"output {name}" for name in outputs]
        return "\n".join(lines) + "\n"

    def check(self, nodes, feeds, expected, fixed={}, opset=17, rtol=1e-4, atol=1e-5, types={}, before=""):
        """`nodes` are lines of a model whose inputs are those of `feeds` and `fixed`, of their own types or of `types`;
        `before` has graphs for attributes."""
        text = self.text_of(nodes, {**feeds, **fixed}, expected, opset, types, before)
        self.count += 1
        load = self.run(text, feeds, fixed)
        if load is None:
            self.wrong += 1
            return
        for name, value in expected.items():
            got, value = load(name), np.asarray(value)
            if got.dtype != value.dtype or got.shape != value.shape or not np.allclose(got, value, rtol, atol, True):
                print(f"{text}{name}: expected {value.dtype}{list(value.shape)}\n{value}\nbut got {got.dtype}"
                      f"{list(got.shape)}\n{got}")
                self.wrong += 1
                return

    def finish(self):
        print(f"{self.count} cases, {self.wrong} wrong")
        sys.exit(1 if self.wrong else 0)
