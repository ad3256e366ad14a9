"""Compiles kernels in linalg form into a shared library and compares their results with NumPy."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": np.uint16,
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}


def tool(name):
    path = shutil.which(f"{name}-22") or shutil.which(name)
    return path or f"/usr/lib/llvm-22/bin/{name}"


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[:4000]}")
    return done.stdout


class Number(int):
    """An integer of affine expressions, in which `@` is ceildiv."""

    def __add__(self, other):
        return Number(int(self) + int(other))

    def __sub__(self, other):
        return Number(int(self) - int(other))

    def __mul__(self, other):
        return Number(int(self) * int(other))

    def __floordiv__(self, other):
        return Number(int(self) // int(other))

    def __mod__(self, other):
        return Number(int(self) % int(other))

    def __matmul__(self, other):
        return Number(-(-int(self) // int(other)))

    def __neg__(self):
        return Number(-int(self))


def evaluate(map_text, sizes):
    """The value of the single result of affine_map<()[s0, ...] -> (expr)>."""
    expression = map_text[map_text.index("->") + 2 :].strip().rstrip(">").strip()
    expression = expression.replace("ceildiv", "@").replace("floordiv", "//").replace("mod", "%")
    expression = re.sub(r"(?<!\w)(\d+)", r"Number(\1)", expression)
    names = {f"s{i}": Number(size) for i, size in enumerate(sizes)}
    return int(eval(expression, {"Number": Number, **names}))


class Library:
    """The kernels of a module; `library.call(name, sizes, arguments, results)` runs one."""

    def __init__(self, text, cpu=os.environ.get("TFC_CPU", "native")):
        opt = os.environ.get("TFC_OPT", "tfc-opt")
        code = run([opt, f"--tfc-attach-target=mcpu={cpu}", "--tfc-prepare-kernels", "--tfc-cpu-codegen"], text)
        self.attributes = self.read_attributes(code)
        lowered = run([opt, "--tfc-cpu-lower"], code)
        ir = run([tool("mlir-translate"), "--mlir-to-llvmir", "--allow-unregistered-dialect"], lowered).replace(" hidden ", " ")
        self.folder = tempfile.mkdtemp()
        path = os.path.join(self.folder, "kernels.so")
        flags = ["-O2", f"-march={cpu}", "-ffp-contract=off", "-shared", "-fPIC", "-w"]
        # Conversions of bf16 that the processor lacks; tfc itself never leaves them to a library.
        builtins = "-rtlib=compiler-rt"
        run([tool("clang"), "-x", "ir", "-", *flags, builtins, "-o", path, "-lm"], ir)
        self.library = ctypes.CDLL(path)
        shutil.rmtree(self.folder)

    @staticmethod
    def read_attributes(code):
        aliases = dict(re.findall(r"^(#\w+) = (affine_map<.*>)$", code, re.M))
        found = {}
        for name, body in re.findall(r"llvm\.func hidden @([\w$]+)\(.*?attributes \{(.*)\} \{", code):
            values = {}
            for key in ["extent", "scratch"]:
                match = re.search(rf"\b{key} = (#\w+|affine_map<\(\).*?\)>)", body)
                values[key] = aliases.get(match.group(1), match.group(1))
            values["grain"] = int(re.search(r"\bgrain = (\d+)", body).group(1))
            found[name] = values
        return found

    def call(self, name, sizes, arguments, results, chunk=None):
        attributes = self.attributes[name]
        extent = evaluate(attributes["extent"], sizes)
        scratch = np.zeros(evaluate(attributes["scratch"], sizes) + 64, np.uint8)
        pointers = [a.ctypes.data for a in arguments + results + [scratch]]
        function = getattr(self.library, name)
        step = chunk or max(extent, 1)
        for begin in range(0, max(extent, 1), step):
            values = [*sizes, *pointers, begin, min(begin + step, extent)]
            kinds = [ctypes.c_int64] * len(sizes) + [ctypes.c_void_p] * len(pointers)
            function(*[kind(v) for kind, v in zip(kinds + [ctypes.c_int64] * 2, values)])


def guarded(shape, dtype):
    """An array with canaries around it, and a function that checks them."""
    count = int(np.prod(shape, dtype=np.int64))
    memory = np.zeros((count + 128) * np.dtype(dtype).itemsize, np.uint8)
    memory[:] = 0xA5
    view = memory.view(dtype) if dtype != np.bool_ else memory.view(np.bool_)
    array = view[64 : 64 + count].reshape(shape)

    def intact():
        size = np.dtype(dtype).itemsize * 64
        return (memory[:size] == 0xA5).all() and (memory[-size:] == 0xA5).all()

    return array, intact


class Cases:
    """Collects kernels with their expected results, then compiles and checks all of them."""

    def __init__(self):
        self.text = []
        self.checks = []

    def kernel(self, text):
        self.text.append(text)

    def check(self, name, sizes, arguments, expected, rtol=0.0, atol=0.0, inplace={}):
        """`expected`: an array per result; `inplace` maps results to the argument they overwrite."""
        self.checks.append((name, sizes, arguments, expected, rtol, atol, inplace))

    def run(self):
        library = Library("\n".join(self.text))
        failures = 0
        for name, sizes, arguments, expected, rtol, atol, inplace in self.checks:
            for chunk in [None, 1, 3]:
                given = [np.array(a, order="C") for a in arguments]
                outputs, guards, results = [], [], []
                for i, array in enumerate(expected):
                    if i in inplace:
                        outputs.append(given[inplace[i]])
                        continue
                    output, intact = guarded(array.shape, array.dtype)
                    outputs.append(output)
                    results.append(output)
                    guards.append(intact)
                library.call(name, sizes, given, results, chunk)
                for i, (got, want) in enumerate(zip(outputs, expected)):
                    good = (
                        np.allclose(got, want, rtol, atol, equal_nan=True)
                        if want.dtype.kind == "f"
                        else (got == want).all()
                    )
                    if not good:
                        failures += 1
                        shapes = [a.shape for a in arguments]
                        print(f"{name}{sizes}{shapes} result {i} chunk {chunk}: differs")
                        with np.errstate(all="ignore"):
                            bad = np.flatnonzero(
                                ~np.isclose(got, want, rtol, atol, equal_nan=True)
                                if want.dtype.kind == "f"
                                else got != want
                            )[:4]
                        print("  at", bad, "got", got.flat[bad], "want", want.flat[bad])
                if not all(intact() for intact in guards):
                    failures += 1
                    print(f"{name}{sizes}: writes outside of a result")
        print(f"{len(self.checks)} calls, {failures} failures")
        sys.exit(failures != 0)
