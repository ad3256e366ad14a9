import numpy as np
from harness import DTYPES, Operand, case, distinct, positive, real, truth, whole


def divisor(*shape):
    return Operand(shape, lambda r, s: r.integers(1, 5, size=s) * r.choice([-1, 1], size=s))


def shift(x, y, left):
    inside = (y >= 0) & (y < 32)
    safe = np.where(inside, y, 0)
    moved = x << safe if left else x >> safe
    return np.where(inside, moved, 0 if left else x >> 31).astype(x.dtype)


def cross_entropy(x, p):
    return np.maximum(x, 0) - x * p + np.log1p(np.exp(-np.abs(x)))


def each(text, function, left=real, right=real, **options):
    shapes = [((2, 3), (2, 3)), (("n", 3), (3,)), ((2, 1), (1, 3)), ((), ("n", 2))]
    return [case(text, function, x=left(*a), y=right(*b), **options) for a, b in shapes]


INTEGERS = "i8 i16 i32 i64"
CASES = [
    *each("atan2(x, y)", np.arctan2, distinct, positive, second=True),
    *each("x % y", np.mod, real, positive),
    *each("x // y", np.floor_divide, real, positive),
    *each("sigmoid_cross_entropy(x, y)", cross_entropy, distinct, real, second=True),
    case("atan2(x, y)", np.arctan2, types="f16", x=distinct("n", 3), y=positive(3)),
    case("x // y", np.floor_divide, types=INTEGERS, x=whole("n", low=-50, high=50), y=divisor("n")),
    case("x % y", np.mod, types=INTEGERS, x=whole("n", low=-50, high=50), y=divisor("n")),
    case("x // y", np.floor_divide, types="u8", x=whole("n", low=0, high=256), y=whole("n", low=1)),
    case("x % y", np.mod, types="u8", x=whole("n", low=0, high=256), y=whole("n", low=1)),
    case("x % 3", lambda x: x % 3, types="i32", x=whole("n", 2)),
    case("clamp(x, -0.4, 0.6)", lambda x: np.clip(x, np.array(-0.4, x.dtype), np.array(0.6, x.dtype)),
         x=distinct("n", 3)),
    case("clamp(x, y, y + 1.0)", lambda x, y: np.clip(x, y, y + 1), x=distinct(4, 3), y=real(3)),
    case("clamp(x, 2, 4)", lambda x: np.clip(x, 2, 4), types="i32 u8", x=whole("n", low=0)),
    case("logical_and(x, y)", np.logical_and, types="bool", x=truth("n", 3), y=truth(3)),
    case("logical_or(x, y)", np.logical_or, types="bool", x=truth("n", 3), y=truth(3)),
    case("logical_xor(x, y)", np.logical_xor, types="bool", x=truth("n", 3), y=truth(3)),
    case("not x", np.logical_not, types="bool", x=truth("n", 3)),
    case("bitwise_and(x, y)", np.bitwise_and, types=INTEGERS, x=whole("n"), y=whole("n")),
    case("bitwise_or(x, y)", np.bitwise_or, types=INTEGERS, x=whole("n"), y=whole("n")),
    case("bitwise_xor(x, y)", np.bitwise_xor, types=INTEGERS, x=whole("n"), y=whole("n")),
    case("bitwise_not(x)", np.bitwise_not, types=INTEGERS + " u8", x=whole("n", low=0)),
    *[case(f"bitcast(x, dtype: {to})", lambda x, source=source, to=to: x.astype(DTYPES[source]).view(DTYPES[to]),
           types=source, gradient=False, x=operand("n", 3))
      for source, to, operand in (("f32", "i32", real), ("f64", "u64", real), ("f16", "u16", real), ("f16", "i16", real),
                                  ("i32", "u32", whole), ("u8", "i8", whole), ("i32", "f32", whole),
                                  ("i64", "f64", whole), ("i16", "f16", whole))],
    case("cast(bitcast(bitcast(cast(x, bf16), dtype: i16), dtype: bf16), f32)", lambda x: x, types="f32", gradient=False,
         x=whole("n", 3)),
    case("shift_left(x, y)", lambda x, y: shift(x, y, True), types="i32", x=whole("n"),
         y=whole("n", low=-3, high=40)),
    case("shift_right(x, y)", lambda x, y: shift(x, y, False), types="i32", x=whole("n"),
         y=whole("n", low=-3, high=40)),
]
