import numpy as np
from harness import Operand, case, whole

UNSIGNED = "u16 u32 u64"


def bits(*shape, least=0, dtype=None):
    """Numbers of the whole range of their type, of all magnitudes."""

    def draw(random, s):
        drawn = random.integers(0, 2**64, size=s, dtype=np.uint64)
        small = drawn >> random.integers(0, 64, size=s, dtype=np.uint64)
        return np.where(random.integers(0, 2, size=s) == 0, drawn, small) | np.uint64(least)

    return Operand(shape, draw, dtype)


def reals(*shape, dtype):
    """Numbers inside of the range of the type and on both sides of it."""
    return Operand(shape, lambda r, s: r.normal(size=s) * 2.0 ** r.integers(0, 70, size=s), dtype)


def saturated(dtype):
    info = np.iinfo(dtype)

    def convert(x):
        below, above = x < 1, np.trunc(x) >= float(info.max)
        inside = np.where(below | above, 0, np.trunc(x)).astype(dtype)
        return np.where(above, dtype(info.max), np.where(below, dtype(0), inside))

    return convert


def pair(text, function, least=0):
    return case(text, function, types=UNSIGNED, x=bits("n", 5), y=bits(5, least=least))


def one(text, function):
    return case(text, function, types=UNSIGNED, x=bits("n", 9))


def accumulated(function):
    return lambda x: function(x, 1, dtype=x.dtype)


CASES = [
    pair("x + y", lambda x, y: x + y),
    pair("x - y", lambda x, y: x - y),
    pair("x * y", lambda x, y: x * y),
    pair("x // y", np.floor_divide, least=1),
    pair("x % y", np.mod, least=1),
    pair("maximum(x, y)", np.maximum),
    pair("minimum(x, y)", np.minimum),
    pair("x == y", lambda x, y: x == y),
    pair("x != y", lambda x, y: x != y),
    pair("x < y", lambda x, y: x < y),
    pair("x <= y", lambda x, y: x <= y),
    pair("x > y", lambda x, y: x > y),
    pair("x >= y", lambda x, y: x >= y),
    pair("bitwise_and(x, y)", np.bitwise_and),
    pair("bitwise_or(x, y)", np.bitwise_or),
    pair("bitwise_xor(x, y)", np.bitwise_xor),
    case("shift_left(x, y)", np.left_shift, types=UNSIGNED, x=bits("n", 5), y=whole(5, low=0, high=16)),
    case("shift_right(x, y)", np.right_shift, types=UNSIGNED, x=bits("n", 5), y=whole(5, low=0, high=16)),
    one("-x", lambda x: (~x + x.dtype.type(1)).astype(x.dtype)),
    one("bitwise_not(x)", np.invert),
    one("abs(x)", lambda x: x),
    one("sign(x)", np.sign),
    one("relu(x)", lambda x: x),
    one("square(x)", np.square),
    one("clamp(x, 2, 60000)", lambda x: np.clip(x, x.dtype.type(2), x.dtype.type(60000))),
    one("sum(x, axis: 1)", lambda x: x.sum(1, dtype=x.dtype)),
    one("prod(x, axis: 1)", lambda x: x.prod(1, dtype=x.dtype)),
    one("max(x, axis: 1)", lambda x: x.max(1)),
    one("min(x, axis: 1)", lambda x: x.min(1)),
    one("argmax(x, axis: 1)", lambda x: x.argmax(1).astype(np.int32)),
    one("argmin(x, axis: 1)", lambda x: x.argmin(1).astype(np.int32)),
    one("argmax(expand(x, axis: 1), axis: 1)", lambda x: np.zeros_like(x, np.int32)),
    one("sort(x, axis: 1)", lambda x: np.sort(x, 1)),
    one("argsort(x, axis: 1)", lambda x: np.argsort(x, 1, kind="stable")),
    one("cumsum(x, axis: 1)", accumulated(np.add.accumulate)),
    one("cummax(x, axis: 1)", lambda x: np.maximum.accumulate(x, 1)),
    one("cummin(x, axis: 1)", lambda x: np.minimum.accumulate(x, 1)),
    one("concat([x, x], axis: 1)", lambda x: np.concatenate([x, x], 1)),
    *[one(f"cast(x, {name})", lambda x, dtype=dtype: x.astype(dtype))
      for name, dtype in (("f64", np.float64), ("f32", np.float32), ("i8", np.int8), ("i32", np.int32),
                          ("i64", np.int64), ("u8", np.uint8), ("u16", np.uint16), ("u64", np.uint64),
                          ("bool", np.bool_))],
    *[case(f"cast(x, {name})", saturated(dtype), types="f64", gradient=False, x=reals("n", 9, dtype="f64"))
      for name, dtype in (("u16", np.uint16), ("u32", np.uint32), ("u64", np.uint64))],
    *[case(f"cast(x, {name})", lambda x, dtype=dtype: x.astype(dtype), types="i8 i64", x=whole("n", 3))
      for name, dtype in (("u16", np.uint16), ("u32", np.uint32), ("u64", np.uint64))],
]
