import math

import numpy as np
from harness import Operand, case, distinct, real, truth, whole


def over_axes(name, function, operand=real, **options):
    """A reduction over all axes, over some, counted from either end, and with the axes kept."""
    return [
        case(f"{name}(x)", function, x=operand("n", 3), sizes=(1, 5), **options),
        case(f"{name}(x)", function, x=operand(), **options),
        case(f"{name}(x, axis: 1)", lambda x: function(x, axis=1), x=operand("n", 4), **options),
        case(f"{name}(x, axis: 0)", lambda x: function(x, axis=0), x=operand("n", 3),
             sizes=(1, 5), **options),
        case(f"{name}(x, axis: [0, -1])", lambda x: function(x, axis=(0, 2)), x=operand(2, "n", 3),
             **options),
        case(f"{name}(x, axis: -1, keep_dims: true)",
             lambda x: function(x, axis=-1, keepdims=True), x=operand("n", 2, 1), **options),
    ]


def max_with_index(x, *axes, dtype=np.int32):
    """The largest elements over adjacent or all axes, and their positions in row-major order."""
    kept = [axis for axis in range(x.ndim) if axes and axis not in axes]
    moved = x.transpose(kept + [axis for axis in range(x.ndim) if axis not in kept])
    count = math.prod(x.shape[axis] for axis in range(x.ndim) if axis not in kept)
    rows = moved.reshape([x.shape[axis] for axis in kept] + [count])
    return rows.max(-1), rows.argmax(-1).astype(dtype)


def log_sum_exp(x, **axis):
    return np.log(np.exp(x).sum(**axis))


def shifted(function, x, axis):
    """The scan without the element itself."""
    fill = np.zeros_like if function is np.cumsum else np.ones_like
    neutral = fill(np.take(x, [0], axis))
    before = np.take(x, range(x.shape[axis] - 1), axis)
    return np.concatenate([neutral, function(before, axis)], axis)


def scan(name, function, operand=real):
    return [
        case(f"{name}(x)", lambda x: function(x, 0), x=operand("n", 3), second=True),
        case(f"{name}(x, axis: -1)", lambda x: function(x, 1), x=operand("n", 4), second=True),
        case(f"{name}(x, axis: 1, exclusive: true)", lambda x: shifted(function, x, 1),
             x=operand("n", 4), second=True),
        case(f"{name}(x, axis: 1, reverse: true)", lambda x: np.flip(function(np.flip(x, 1), 1), 1),
             x=operand("n", 4), second=True),
    ]


def recurrence(factor, x, axis=0):
    """y[i] = factor[i] * y[i - 1] + x[i]."""
    y, state = np.empty_like(x), np.zeros_like(np.take(x, 0, axis)) if x.shape[axis] else None
    for i in range(x.shape[axis]):
        place = (slice(None),) * axis + (i,)
        state = y[place] = factor[place] * state + x[place]
    return y


def delayed_recurrence(factor, x):
    """The state before each element of axis 1, from the last element on."""
    y = recurrence(np.flip(factor, 1), np.flip(x, 1), 1)
    return np.flip(np.concatenate([np.zeros_like(y[:, :1]), y[:, :-1]], 1), 1)


def with_zeros(*shape):
    """No, one or two zeros along every axis; other elements are far from 0."""
    return Operand(shape, lambda r, s: r.uniform(0.5, 2.0, s) * r.choice([-1, 1], s) * (r.random(s) < 0.7))


CASES = [
    *over_axes("sum", np.sum, second=True),
    *over_axes("mean", np.mean, second=True),
    *over_axes("max", np.max, distinct),
    *over_axes("min", np.min, distinct),
    *over_axes("prod", np.prod, second=True),
    *over_axes("logsumexp", log_sum_exp, second=True),
    case("mean(x, axis: 1)", lambda x: x.mean(1), types="f16", x=real("n", 300)),
    case("sum(x, axis: 0)", lambda x: x.sum(0, dtype=np.float32).astype(x.dtype), types="f16", x=real("n", 3)),
    case("cumsum(x, axis: 1)", lambda x: np.cumsum(x, 1, dtype=np.float32).astype(x.dtype), types="f16",
         x=real("n", 5)),
    case("max(x, axis: 1)", lambda x: x.max(1), types="f16 u8 i8", x=whole("n", 3, low=0)),
    case("prod(x, axis: 1)", lambda x: x.prod(1, dtype=x.dtype), types="i8 i64", x=whole("n", 3)),
    case("sum(x, axis: 1)", lambda x: x.sum(1, dtype=x.dtype), types="u8 i16", x=whole("n", 90, low=0)),
    case("all(x, axis: 1)", lambda x: x.all(axis=1), types="bool", x=truth("n", 3)),
    case("any(x)", lambda x: x.any(), types="bool", x=truth("n", 2)),
    case("max_with_index(x, axis: [1, 2])", lambda x: max_with_index(x, 1, 2),
         types="f32 f16 i64 u8", x=whole("n", 3, 4, 5, low=0, high=9)),
    case("max_with_index(x, axis: [-1, 0], dtype: i64)", lambda x: max_with_index(x, 0, 2, dtype=np.int64),
         types="f64 i16", x=whole(2, "n", 3), gradient=False),
    case("max_with_index(sqrt(x))", lambda x: max_with_index(np.sqrt(x)), x=real("n", 3), sizes=(1, 5),
         gradient=False),
    case("max_with_index(x, axis: [1])", lambda x: max_with_index(x, 1), x=distinct(2, "n", 40), sizes=(1, 9),
         second=True),
    case("max_with_index(x, axis: [])", lambda x: (x, np.zeros(x.shape, np.int32)), types="f32 f16", x=real("n", 3)),
    case("max_with_index(x)", lambda x: (x, np.zeros((), np.int32)), types="f32", x=real()),
    case("max_with_index(x, axis: [0, 2])", lambda x: max_with_index(x, 0, 2), x=distinct(2, "n", 3)),
    case("argmax(x, axis: 1)", lambda x: x.argmax(1).astype(np.int32), x=real("n", 4)),
    case("argmin(x, axis: 0, keep_dims: true)", lambda x: x.argmin(0)[None].astype(np.int32),
         x=real(3, "n")),
    case("argmax(x, axis: 0)", lambda x: x.argmax(0).astype(np.int32), types="f32 f16 i64 u8",
         x=whole(9, "n", low=0)),
    case("argmin(x, axis: 1, dtype: i64)", lambda x: x.argmin(1), types="f32 f16 i16", x=whole(2, 9, "n")),
    case("argmax(x, axis: -1, dtype: i64)", lambda x: x.argmax(-1), types="i32", x=whole("n", 5)),
    *scan("cumsum", np.cumsum),
    *scan("cumprod", np.cumprod, distinct),
    case("cumprod(x, axis: 1)", lambda x: np.cumprod(x, axis=1), x=with_zeros("n", 5), second=True),
    case("cumprod(x, axis: 1, exclusive: true, reverse: true)",
         lambda x: np.flip(shifted(np.cumprod, np.flip(x, 1), 1), 1), x=with_zeros("n", 5), second=True),
    case("prod(x, axis: 1)", lambda x: np.prod(x, axis=1), x=with_zeros("n", 5), second=True),
    case("prod(x)", np.prod, x=with_zeros("n", 3), sizes=(1, 3), second=True),
    case("linear_recurrence(f, x)", recurrence, f=real("n", 3), x=real("n", 3), second=True),
    case("linear_recurrence(f, x, axis: 1, exclusive: true, reverse: true)", delayed_recurrence,
         f=with_zeros("n", 4), x=real("n", 4), second=True),
    case("linear_recurrence(f, x, axis: 1)", lambda f, x: recurrence(f, x, 1), types="i32",
         f=whole("n", 9), x=whole("n", 9)),
    case("sum(x, axis: 0)", lambda x: x.sum(axis=0), x=real("n", 3), sizes=(0, 64, 1000), gradient=False),
    case("sum(x)", lambda x: x.sum(), types="f32", x=real("n"), sizes=(0, 1, 10007), tolerance=1e-3),
    case("sum(x, axis: 1)", lambda x: x.sum(axis=1, dtype=np.int32), types="i32", x=whole("n", 3)),
    case("max(x, axis: 1)", lambda x: x.max(axis=1), types="i32 i64", x=whole("n", 3)),
]
