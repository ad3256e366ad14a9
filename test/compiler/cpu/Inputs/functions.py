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


def kernel(name, kind, n):
    t = f"tensor<{n}x{kind}>"
    return f"""
func.func private @{name}_{kind}(%x: {t}) -> ({t}) attributes {{tfc.kernel}} {{
  %e = tensor.empty() : {t}
  %y = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}} ins(%x : {t}) outs(%e : {t}) {{
  ^bb0(%a: {kind}, %o: {kind}):
    %r = math.{name} %a : {kind}
    linalg.yield %r : {kind}
  }} -> {t}
  return %y : {t}
}}"""


def arguments(span, dtype, n):
    rng = np.random.default_rng(3)
    tiny, big = np.finfo(dtype).tiny, np.finfo(dtype).max
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, tiny, -tiny, tiny / 8,
               -tiny / 8, big, -big, 2.0, 1e-5, -1e-5, 88.8, -88.8, 1e-20, -1e-20, 3.0, 4.0, 1e10]
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
    library = Library("\n".join(kernel(f[0], k, n) for f in FUNCTIONS for k in ["f32", "f64"]))
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
