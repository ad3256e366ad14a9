import numpy as np
from harness import Operand, case

LARGE = 3e38
ROWS = [
    [1.0, np.nan, 2.0, np.nan], [np.inf, -np.inf, 0.0, 1.0], [0.0, -0.0, 0.0, -0.0], [-np.inf] * 4,
    [np.inf, 1.0, 2.0, np.inf], [LARGE, LARGE, -LARGE, -LARGE], [0.0, np.inf, 1.0, 2.0], [1000.0, 999.0, 0.0, -1000.0],
]


def rows():
    return Operand((len(ROWS), 4), lambda r, s: np.array(ROWS))


def nothing():
    """An axis of n elements, where n is 0."""
    return Operand(("n", 3), lambda r, s: np.zeros(s))


def log_sum_exp(x):
    top = x.max(1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    return (np.log(np.exp(x - top).sum(1, keepdims=True)) + top)[:, 0].astype(x.dtype)


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return (e / e.sum(1, keepdims=True)).astype(x.dtype)


def log_softmax(x):
    z = x - x.max(1, keepdims=True)
    return (z - np.log(np.exp(z).sum(1, keepdims=True))).astype(x.dtype)


def of_rows(text, function):
    return case(text, function, x=rows(), gradient=False)


def of_nothing(text, value, types="f64 f32", **options):
    """Reductions of an empty axis, which NumPy mostly refuses."""

    def function(x):
        return np.full(3, value, options.get("result", x.dtype)) if not len(x) else getattr(np, options["like"])(x, 0).astype(options.get("result", x.dtype))

    return case(text, function, types=types, x=nothing(), gradient=False, sizes=(0,))


CASES = [
    of_rows("max(x, axis: 1)", lambda x: x.max(1)),
    of_rows("min(x, axis: 1)", lambda x: x.min(1)),
    of_rows("max(x, axis: 0)", lambda x: x.max(0)),
    of_rows("prod(x, axis: 1)", lambda x: x.prod(1)),
    of_rows("argmax(x, axis: 1)", lambda x: x.argmax(1).astype(np.int32)),
    of_rows("argmin(x, axis: 1)", lambda x: x.argmin(1).astype(np.int32)),
    of_rows("argmax(x, axis: 0)", lambda x: x.argmax(0).astype(np.int32)),
    of_rows("argmin(x, axis: 0)", lambda x: x.argmin(0).astype(np.int32)),
    of_rows("argsort(x)", lambda x: np.argsort(x, 1, kind="stable")),
    of_rows("argsort(x, axis: 0)", lambda x: np.argsort(x, 0, kind="stable")),
    of_rows("logsumexp(x, axis: 1)", log_sum_exp),
    of_rows("softmax(x)", softmax),
    of_rows("log_softmax(x)", log_softmax),
    of_rows("any(is_nan(x), axis: 1)", lambda x: np.isnan(x).any(1)),
    of_rows("sum(select(abs(x) < 1e30, x, 0.0), axis: 1)", lambda x: np.where(np.abs(x) < 1e30, x, 0).sum(1).astype(x.dtype)),
    of_rows("sum(x / 4.0, axis: 1)", lambda x: (x / 4).sum(1)),
    of_nothing("sum(x, axis: 0)", 0, types="f64 f32 i32 u8", like="sum"),
    of_nothing("prod(x, axis: 0)", 1, types="f64 f32 i32", like="prod"),
    of_nothing("mean(x, axis: 0)", np.nan, like="mean"),
    of_nothing("max(x, axis: 0)", -np.inf, like="max"),
    of_nothing("min(x, axis: 0)", np.inf, like="min"),
    of_nothing("max(x, axis: 0)", -(2**31), types="i32", like="max"),
    of_nothing("min(x, axis: 0)", 127, types="i8", like="min"),
    of_nothing("min(x, axis: 0)", 255, types="u8", like="min"),
    of_nothing("logsumexp(x, axis: 0)", -np.inf, like="max"),
    of_nothing("argmax(x, axis: 0)", 0, types="f32 i32", result=np.int32, like="argmax"),
]
