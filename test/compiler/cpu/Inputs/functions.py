"""Functions on floats: accuracy in units in the last place, and special values as in C."""

import ctypes
import ctypes.util
import sys

import numpy as np
from kernels import Library

libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
# name, function of libm in f64, range of arguments, allowed ulp in f32
FUNCTIONS = [
    ("exp", "exp", (-104, 89), 2),
    ("exp2", "exp2", (-150, 129), 2),
    ("expm1", "expm1", (-20, 89), 3),
    ("log", "log", (0, 3e38), 2),
    ("log2", "log2", (0, 3e38), 3),
    ("log10", "log10", (0, 3e38), 3),
    ("log1p", "log1p", (-1, 1e6), 3),
    ("tanh", "tanh", (-12, 12), 5),
    ("erf", "erf", (-5, 5), 6),
    ("erfc", "erfc", (-4, 9), 16),
    ("sin", "sin", (-1e4, 1e4), 3),
    ("cos", "cos", (-1e4, 1e4), 3),
    ("tan", "tan", (-100, 100), 4),
    ("sinh", "sinh", (-80, 80), 4),
    ("cosh", "cosh", (-80, 80), 4),
    ("asin", "asin", (-1, 1), 4),
    ("acos", "acos", (-1, 1), 4),
    ("atan", "atan", (-100, 100), 4),
    ("asinh", "asinh", (-100, 100), 4),
    ("acosh", "acosh", (1, 100), 4),
    ("atanh", "atanh", (-1, 1), 4),
    ("cbrt", "cbrt", (-100, 100), 3),
    ("sqrt", "sqrt", (0, 1e30), 1),
    ("floor", "floor", (-1e6, 1e6), 0),
    ("ceil", "ceil", (-1e6, 1e6), 0),
    ("trunc", "trunc", (-1e6, 1e6), 0),
    ("roundeven", "rint", (-1e6, 1e6), 0),
    ("absf", "fabs", (-1e6, 1e6), 0),
]
# operation, function of libm, ranges of arguments, allowed ulp in f32; f64 is the library's
PAIRS = [
    ("math.powf", "pow", (0, 40), (-12, 12), 2),
    ("math.atan2", "atan2", (-50, 50), (-9, 9), 4),
    ("arith.remf", "fmod", (-1e4, 1e4), (-9, 9), 0),
]


def pair_kernel(op, name, n):
    t = f"tensor<{n}xf32>"
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * 3)
    return f"""
kernel.func @{name}_f32(%x: {t}, %y: {t}) -> ({t}) {{
  %e = tensor.empty() : {t}
  %z = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins(%x, %y : {t}, {t}) outs(%e : {t}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = {op} %a, %b : f32
    linalg.yield %r : f32
  }} -> {t}
  kernel.return %z : {t}
}}"""


def pair_arguments(spans, n):
    """All pairs of special values, then pairs of the ranges, whole exponents among them."""
    rng = np.random.default_rng(5)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1e30, -1e30,
               1e-30, 1e10, 16777216.0, -16777217.0, 7.25, 1.0000001, 0.99999994]
    pairs = np.array([(a, b) for a in special for b in special]).T
    x, y = [np.concatenate([pairs[i], rng.uniform(*spans[i], n)])[:n] for i in range(2)]
    x[1000:2000] = np.exp(rng.uniform(-80, 80, 1000))
    y[2000:3000] = np.round(y[2000:3000])
    x[2000:2500] *= -1
    x[3000:4000] = 1 + rng.standard_normal(1000) * 1e-4
    y[3000:4000] *= 1e3
    return x.astype(np.float32), y.astype(np.float32)


def check_pair(library, name, spans, allowed, n):
    """Returns an error in a function of two arguments, or None."""
    function = getattr(libm, name)
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * 2
    x, y = pair_arguments(spans, n)
    got = np.zeros(n, np.float32)
    library.call(f"{name}_f32", [], [x, y], [got])
    want = np.array([function(float(a), float(b)) for a, b in zip(x, y)])
    error = ulps(got, want)
    bad = np.flatnonzero(~(error <= allowed))
    if "-v" in sys.argv:
        print(f"{name}_f32: {np.max(error):.2f} ulp")
    return [(x[i], y[i], got[i], want[i], error[i]) for i in bad[:6]]


def kernel(name, kind, n):
    t = f"tensor<{n}x{kind}>"
    return f"""
kernel.func @{name}_{kind}(%x: {t}) -> ({t}) {{
  %e = tensor.empty() : {t}
  %y = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}} ins(%x : {t}) outs(%e : {t}) {{
  ^bb0(%a: {kind}, %o: {kind}):
    %r = math.{name} %a : {kind}
    linalg.yield %r : {kind}
  }} -> {t}
  kernel.return %y : {t}
}}"""


def arguments(span, dtype, n):
    rng = np.random.default_rng(3)
    tiny, big = np.finfo(dtype).tiny, np.finfo(dtype).max
    # A call treats denormal numbers as zeros, and sets the processor's mode for that.
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, tiny, -tiny, big, -big, 2.0,
               1e-5, -1e-5, 88.8, -88.8, 1e-20, -1e-20, 3.0, 4.0, 1e10]
    low, high = span
    uniform = rng.uniform(low, high, n // 3)
    near = rng.standard_normal(n // 3)
    powers = np.exp(rng.uniform(np.log(1e-30), np.log(max(high, 1)), n)) * rng.choice([-1, 1], n)
    x = np.concatenate([special, uniform, near, powers])[:n]
    return x.astype(dtype)


def reference(name, x):
    f = getattr(libm, name)
    f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double]
    return np.array([f(float(v)) for v in x])


def ulps(got, want):
    """Distance in units in the last place of `got`'s type, infinite where a special value differs."""
    dtype = got.dtype.type
    with np.errstate(all="ignore"):
        rounded = want.astype(dtype)
        unit = np.maximum(np.spacing(np.abs(rounded)), np.finfo(dtype).smallest_subnormal)
        distance = np.abs(got.astype(np.float64) - want) / unit
    same = (np.isnan(got) & np.isnan(want)) | (got == rounded)
    same &= np.isnan(got) | (np.signbit(got) == np.signbit(rounded)) | (rounded != 0)
    special = ~np.isfinite(got) | ~np.isfinite(rounded) | ((rounded == 0) & (want == 0))
    return np.where(same, 0.0, np.where(special, np.inf, distance))


def main():
    n, verbose, failures = 6000, "-v" in sys.argv, 0
    kernels = [kernel(f[0], k, n) for f in FUNCTIONS for k in ["f32", "f64"]]
    library = Library("\n".join(kernels + [pair_kernel(op, name, n) for op, name, *_ in PAIRS]))
    for _, name, *spans, allowed in PAIRS:
        wrong = check_pair(library, name, spans, allowed, n)
        failures += bool(wrong)
        for case in wrong:
            print(f"{name}(%r, %r) = %r, but should be %r: %.2f ulp" % case)
    for name, c_name, span, allowed in FUNCTIONS:
        for kind, dtype in [("f32", np.float32), ("f64", np.float64)]:
            x = arguments(span, dtype, n)
            got = np.zeros(n, dtype)
            library.call(f"{name}_{kind}", [], [x], [got])
            error = ulps(got, reference(c_name, x))
            limit = allowed if kind == "f32" else 2
            worst = int(np.argmax(error))
            if verbose:
                print(f"{name}_{kind}: {error[worst]:.2f} ulp at {x[worst]!r}")
            if not error[worst] <= limit:
                failures += 1
                bad = np.flatnonzero(~(error <= limit))
                print(f"{name}_{kind}: {error[worst]:.2f} ulp, {len(bad)} over {limit}, at", x[bad[:6]],
                      "got", got[bad[:6]], "want", reference(c_name, x[bad[:6]]))
    print(f"{len(FUNCTIONS)} functions, {failures} failures")
    sys.exit(failures != 0)


main()
