import numpy as np
from harness import case, distinct, real, whole


def order(x, axis=-1, descending=False):
    if descending:
        return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    return np.argsort(x, axis, kind="stable")


def top(x, k, axis=-1, largest=True):
    places = np.take(order(x, axis, largest), np.arange(k), axis)
    return np.take_along_axis(x, places, axis), places.astype(np.int32)


def gaps(*shape):
    """With NaN and infinities."""
    operand = real(*shape)
    draw = operand.draw
    operand.draw = lambda r, s: np.where(r.random(s) < 0.4, r.choice([np.nan, np.inf, -np.inf], s), draw(r, s))
    return operand


def lse(x, axis, reverse=False, exclusive=False):
    y = np.flip(x, axis) if reverse else x
    y = np.logaddexp.accumulate(y, axis)
    if exclusive:
        y = np.insert(np.delete(y, -1, axis), 0, -np.inf, axis)
    return np.flip(y, axis) if reverse else y


def reduce(x, i, u, function):
    y = x.copy()
    with np.errstate(all="ignore"):
        function.at(y, i, u)
    return y


def skipped(x, i, u):
    inside = (i >= 0) & (i < len(x))
    return reduce(x, i[inside], u[inside], np.multiply)


def indices(limit, *shape):
    return whole(*shape, low=0, high=limit, dtype="i32")


def vectors(x, i, u, function=None):
    y = x.copy()
    places = tuple(i[..., axis] for axis in range(i.shape[-1]))
    if function:
        function.at(y, places, u)
        return y
    for place in np.ndindex(i.shape[:-1]):
        y[tuple(i[place])] = u[place]
    return y


def segments(x, i, count, function, start):
    y = np.full((count, *x.shape[i.ndim:]), start, x.dtype)
    function.at(y, i, x)
    return y


CASES = [
    case("sort(x)", np.sort, x=distinct("n", 3), second=True),
    case("sort(x, axis: 0, descending: true)", lambda x: -np.sort(-x, 0), x=distinct("n", 2), second=True),
    case("sort(x, axis: -2)", lambda x: np.sort(x, 1), types="f64 f16 i8 i64 u8", x=whole(2, "n", 3, low=0), gradient=False),
    case("sort(x)", np.sort, x=gaps("n", 7), gradient=False),
    case("sort(x, descending: true)", lambda x: np.flip(np.sort(x), -1), x=gaps("n", 7), gradient=False),
    case("top_k(x, 2)", lambda x: top(x, 2), x=distinct("n", 5), second=True),
    case("top_k(x, 3, axis: 0, largest: false)", lambda x: top(x, 3, 0, False), x=distinct(4, "n"), second=True),
    case("top_k(x, 2)", lambda x: top(x, 2), types="f64 i32 i8", x=whole("n", 9),
         gradient=False),
    case("top_k(x, 7)", lambda x: top(x, 7), x=gaps("n", 7), gradient=False),
    case("top_k(x, 0)", lambda x: top(x, 0), x=real("n", 3), gradient=False),
    case("top_k(x, n)", lambda x: top(x, len(x)), x=distinct("n")),
    case("arg_top_k(x, 1)", lambda x: top(x, 1)[1], x=distinct("n", 6)),
    case("arg_top_k(x, 6, largest: false)", lambda x: order(x).astype(np.int32), types="i32", x=whole("n", 6)),
    case("top_k(x, 40)", lambda x: top(x, 40), x=distinct("n", 200), gradient=False),
    # More elements than are compared pairwise, ties, and selections whose buffer fills more than once.
    case("argsort(x)", order, types="f64 f32 f16 i16 i64 u8", x=whole("n", 300, low=-100, high=100),
         gradient=False, result="i64[n, 300]"),
    case("argsort(x)", order, types="f32 i32", x=whole("n", low=-9), sizes=(0, 1, 127, 129), gradient=False),
    case("top_k(x, 3)", lambda x: top(x, 3), types="f64 f32 i8", x=whole(2, 700, low=-60, high=60), gradient=False,
         result="{T}[2, 3]"),
    case("top_k(x, 90, largest: false)", lambda x: top(x, 90, -1, False), types="f32 i64",
         x=whole(1500, low=-10000, high=10000), gradient=False, result="{T}[90]"),
    case("cummax(x)", lambda x: np.maximum.accumulate(x, 0), x=distinct("n", 3), second=True),
    case("cummax(x, axis: -1, reverse: true)", lambda x: np.flip(np.maximum.accumulate(np.flip(x, 1), 1), 1),
         x=distinct("n", 4), second=True),
    case("cummax(x, axis: 1)", lambda x: np.maximum.accumulate(x, 1), types="i8 i64 u8", x=whole("n", 4, low=0)),
    case("cummax(x, axis: 1)", lambda x: np.maximum.accumulate(x, 1), x=gaps("n", 5), gradient=False),
    case("cummin(x)", lambda x: np.minimum.accumulate(x, 0), x=distinct("n", 3), second=True),
    case("cummin(x, reverse: true)", lambda x: np.flip(np.minimum.accumulate(np.flip(x, 0), 0), 0), x=distinct("n")),
    case("maximum(cummax(x, exclusive: true), -9.0)",
         lambda x: np.insert(np.maximum.accumulate(x)[:-1], 0, -9)[: len(x)].astype(x.dtype), x=distinct("n"),
         second=True),
    case("logcumsumexp(x)", lambda x: lse(x, 0), x=real("n", 3), second=True),
    case("logcumsumexp(x * 300.0, axis: 1, reverse: true)", lambda x: lse(x * 300, 1, True), x=real("n", 4)),
    case("logcumsumexp(x, axis: -1, exclusive: true)[:, 1:]", lambda x: lse(x, 1, False, True)[:, 1:],
         x=real("n", 4), second=True),
    case("searchsorted(cumsum(abs(s), axis: -1), x)", lambda s, x: np.searchsorted(np.cumsum(np.abs(s)), x).astype("i4"),
         s=real(6), x=real("n")),
    case("searchsorted(s, x, right: true)", lambda s, x: np.stack(
        [np.searchsorted(a, b, "right") for a, b in zip(s, x)]).astype("i4") if len(s) else np.zeros((0, 2), "i4"),
         types="i32", s=whole("n", 1), x=whole("n", 2)),
    case('scatter_reduce(x, i, u, mode: "max")', lambda x, i, u: reduce(x, i, u, np.maximum), x=distinct(4, 2),
         i=indices(4, "n"), u=real("n", 2), second=True),
    case('scatter_reduce(x, i, u, mode: "min")', lambda x, i, u: reduce(x, i, u, np.minimum),
         types="f64 f32 i32 u8", x=whole(4, low=0), i=indices(4, "n", 2), u=whole("n", 2, low=0), gradient=False),
    case('scatter_reduce(x, i, u, mode: "mul")', lambda x, i, u: reduce(x, i, u, np.multiply), x=real(4, 2),
         i=indices(4, "n"), u=real("n", 2), second=True),
    case('scatter_reduce(x, i, u, mode: "mul")', lambda x, i, u: reduce(x, i, u, np.multiply), x=whole(3, low=-1, high=2),
         i=indices(3, "n"), u=whole("n", low=-1, high=2), second=True),
    case('scatter_reduce(x, i - 1, u, mode: "mul", outside: "skip")', lambda x, i, u: skipped(x, i - 1, u),
         x=whole(3, 2, low=-1, high=2), i=indices(5, 2, "n"), u=whole(2, "n", 2, low=-1, high=2), second=True),
    case("segment_prod(x * x, i, 2)", lambda x, i: segments(x * x, i, 2, np.multiply, 1), x=whole("n", low=-1, high=2),
         i=indices(2, "n"), second=True),
    case("segment_max(x, i, 3)", lambda x, i: segments(x, i, 3, np.maximum, -np.inf), x=distinct("n", 2),
         i=indices(3, "n"), gradient=False),
    case("maximum(segment_max(x, i, 3), -9.0)",
         lambda x, i: np.maximum(segments(x, i, 3, np.maximum, -np.inf), -9), x=distinct("n", 2), i=indices(3, "n"),
         second=True),
    case("segment_min(x, i, 3)", lambda x, i: segments(x, i, 3, np.minimum, 2**31 - 1), types="i32", x=whole("n"),
         i=indices(3, "n")),
    case("segment_prod(x, i, 3)", lambda x, i: segments(x, i, 3, np.multiply, 1), x=real("n", 2), i=indices(3, "n"),
         second=True),
    case("scatter_nd(x, i, u)", vectors, x=real(3, 2, 2), i=indices(2, "n", 2), u=real("n", 2), second=True),
    case("scatter_nd(x, i, u)", vectors, types="i32", x=whole(4), i=indices(4, "n", 2, 1),
         u=whole("n", 2)),
    case('scatter_nd(x, i, u, mode: "add")', lambda x, i, u: vectors(x, i, u, np.add), x=real(3, 3),
         i=indices(3, "n", 2), u=real("n"), second=True),
    case('scatter_nd(x, i, u, mode: "max")', lambda x, i, u: vectors(x, i, u, np.maximum), x=distinct(3, 3),
         i=indices(3, "n", 2), u=real("n"), second=True),
]
