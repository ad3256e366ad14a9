import math

import numpy as np
from harness import Operand, case, distinct, positive, real, unit


def above(*shape):
    return Operand(shape, lambda r, s: r.uniform(1.2, 3.0, size=s))


def unary(text, function, operand=real, **options):
    return [case(text, function, x=operand("n", 3), **options)]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


erf, erfc = np.vectorize(math.erf, otypes="d"), np.vectorize(math.erfc, otypes="d")
CURVE = math.sqrt(2 / math.pi)
ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-30, 80.0, -80.0]


def edges(*shape):
    return Operand(shape, lambda r, s: np.resize(EDGES, s))


def like(function):
    """For functions that NumPy has only in f64."""
    return lambda x: function(x).astype(x.dtype)


SMOOTH = {
    "sin": np.sin, "cos": np.cos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "asinh": np.arcsinh, "exp2": np.exp2, "expm1": np.expm1, "erf": like(erf), "erfc": like(erfc),
    "sigmoid": sigmoid, "silu": lambda x: x * sigmoid(x), "softplus": lambda x: np.logaddexp(0, x),
    "gelu": lambda x: (0.5 * x * (1 + erf(x / math.sqrt(2)))).astype(x.dtype),
}
BOUNDED = {"tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atanh": np.arctanh}
POSITIVE = {"log2": np.log2, "log1p": np.log1p, "reciprocal": np.reciprocal}
KINKED = {
    "abs": np.abs, "softsign": lambda x: x / (1 + np.abs(x)), "elu": elu,
    "selu": lambda x: SCALE * elu(x, ALPHA), "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
}
STEPS = {"sign": np.sign, "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc}
AT_EDGES = ["sin", "cos", "atan", "sinh", "cosh", "asinh", "exp2", "expm1", "erf", "sigmoid", "softplus"]

CASES = [
    *[c for n, f in SMOOTH.items() for c in unary(f"{n}(x)", f, second=True)],
    *[c for n, f in BOUNDED.items() for c in unary(f"{n}(x)", f, unit, second=True)],
    *[c for n, f in POSITIVE.items() for c in unary(f"{n}(x)", f, positive, second=True)],
    *[c for n, f in KINKED.items() for c in unary(f"{n}(x)", f, distinct, second=True)],
    *[c for n, f in STEPS.items() for c in unary(f"{n}(x)", f, distinct)],
    *[case(f"{n}(x)", SMOOTH[n], x=edges(20), gradient=False) for n in AT_EDGES],
    *[case(f"{n}(x)", f, x=edges(20), gradient=False) for n, f in STEPS.items()],
    case("log(x)", np.log, x=edges(20), gradient=False),
    case("sqrt(x)", np.sqrt, x=edges(20), gradient=False),
    *unary("acosh(x)", np.arccosh, above, second=True),
    *unary("gelu(x, approximate: true)", lambda x: 0.5 * x * (1 + np.tanh(CURVE * (x + 0.044715 * x**3))),
           second=True),
    *unary("elu(x, alpha: 0.5)", lambda x: elu(x, 0.5), distinct, second=True),
    case("abs(x)", np.abs, types="i8 i32", x=Operand(("n",), lambda r, s: r.integers(-9, 9, s))),
    *[case(f"{n}(x)", lambda x, f=f: f(x.astype(np.float32)).astype(x.dtype), types="f16", x=unit("n", 3))
      for n, f in [("exp", np.exp), ("tanh", np.tanh), ("sigmoid", sigmoid), ("gelu", SMOOTH["gelu"]), ("abs", np.abs)]],
    case("is_nan(x)", np.isnan, x=edges(20)),
    case("is_inf(x)", np.isinf, x=edges(20)),
    case("is_finite(x)", np.isfinite, x=edges(20)),
]
