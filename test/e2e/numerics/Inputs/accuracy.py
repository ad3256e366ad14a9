"""accuracy.py MODEL.so EXACT.so NUMERICS.md [COUNT]: measures the errors that NUMERICS.md states.

Random numbers of all sizes and around the points at which functions are steep, COUNT of each kind; the
truth is long double's. Denormal numbers count as zeros, as in a call.
"""

import ctypes
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from documented import read_accuracy
from model import Model

TYPES = {"f32": (np.float32, np.uint32, 24), "f64": (np.float64, np.uint64, 53)}
BINARY = ("pow", "atan2", "div")


def draw(random, dtype, count):
    real, bits, _ = TYPES[dtype]
    parts = [random.integers(0, np.iinfo(bits).max, count, dtype=bits, endpoint=True).view(real)]
    for scale in 1e-3, 0.1, 1, 5, 20, 100, 1000:
        parts.append(random.normal(size=count // 4) * scale)
    parts.append(1 + random.normal(size=count // 2) * 10.0 ** random.uniform(-8, 0, count // 2))
    for limit in 1, 10:
        parts.append(random.uniform(-limit, limit, count // 2))
    return flush(np.concatenate([part.astype(real) for part in parts]), np.finfo(real).tiny)


def flush(values, least):
    return np.where(np.abs(values) < least, np.copysign(values.dtype.type(0), values), values)


def operands(random, name, dtype, count):
    x = draw(random, dtype, count)
    if name not in BINARY:
        return [x]
    y = random.permutation(x)
    if name == "pow":  # half of the powers are numbers
        x = np.abs(x)
        largest = np.log(np.finfo(x.dtype).max)
        logarithms = np.where(np.log(x) == 0, 1, np.log(x))
        some = (random.uniform(-1, 1, len(x)) * largest / logarithms).astype(x.dtype)
        y = np.where(random.integers(0, 2, len(x)) == 1, some, y)
    return [x, flush(y, np.finfo(y.dtype).tiny)]


def compute_exactly(library, name, values):
    wide = [np.ascontiguousarray(v.astype(np.longdouble)) for v in values]
    result = np.empty_like(wide[0])
    pointers = [ctypes.c_void_p(v.ctypes.data) for v in (*wide, result)]
    getattr(library, "exact_" + name)(*pointers, ctypes.c_size_t(len(result)))
    return result


def errors(name, got, exact, dtype, values):
    """In units in the last place; infinite where only one of both is a number."""
    real, _, precision = TYPES[dtype]
    least, most = np.longdouble(np.finfo(real).tiny), np.longdouble(np.finfo(real).max)
    size = np.abs(exact)
    if name == "gelu":
        size = np.maximum(size, np.abs(values[0]))
    unit = np.ldexp(np.longdouble(1), np.frexp(np.clip(size, least, most))[1] - precision)
    off = np.abs(flush(got.astype(np.longdouble), least) - flush(exact, least)) / unit
    vanishes = 2048 * least if name == "silu" else least * (1 + 2.0**-16)
    off[(np.abs(exact) < vanishes) & (np.abs(got) < vanishes)] = 0
    large = np.abs(exact) > most * (1 - 2.0**-16)
    off[large & (np.abs(got) > most * (1 - 2.0**-16)) & (np.sign(got) == np.sign(exact))] = 0
    off[np.isnan(exact) & np.isnan(got) | (got == exact)] = 0
    return np.where(np.isnan(off), np.inf, off)


def main():
    path, exact_path, page = sys.argv[1:4]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 1 << 13
    model, library, wrong = Model(path), ctypes.CDLL(os.path.abspath(exact_path)), 0
    accuracy, random = read_accuracy(page), np.random.default_rng(1)
    for entry in sorted(model.entries):
        name, dtype = entry.rsplit("_", 1)
        with np.errstate(all="ignore"):
            values = operands(random, name, dtype, count)
            got = model.call_raw(entry, values, 1)[0]
            off = errors(name, got, compute_exactly(library, name, values), dtype, values)
        worst = int(np.argmax(off))
        at = ", ".join(repr(float(v[worst])) for v in values)
        print(f"{entry}: {float(off[worst]):.3g} units at {at}")
        if not off[worst] <= accuracy[name][dtype] + (0.001 if dtype == "f64" else 0):
            wrong += 1
            print(f"error: {entry} is documented to be right to {accuracy[name][dtype]} units")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
