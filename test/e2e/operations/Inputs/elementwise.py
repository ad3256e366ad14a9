import numpy as np
from harness import case, distinct, positive, real, truth, unit, whole


def binary(text, function, operand=real, **options):
    """An operation of two operands in the ways that they can broadcast."""
    shapes = [((2, 3), (2, 3)), (("n", 3), (3,)), ((2, 1, 3), (4, 1)), ((), ("n", 2)), ((1, 4), (3, 1))]
    return [case(text, function, x=operand(*a), y=operand(*b), **options) for a, b in shapes]


def unary(text, function, operand=real, **options):
    return [case(text, function, x=operand("n", 3), **options)]


INTEGERS = "i8 i16 i32 i64"
CASES = [
    *binary("x + y", lambda x, y: x + y, second=True),
    *binary("x - y", lambda x, y: x - y),
    *binary("x * y", lambda x, y: x * y, second=True),
    *binary("x / y", lambda x, y: x / y, positive, second=True),
    *binary("x ** y", lambda x, y: x**y, positive, second=True),
    *binary("maximum(x, y)", np.maximum),
    *binary("minimum(x, y)", np.minimum),
    case("x + y", lambda x, y: x + y, types=INTEGERS + " u8", x=whole("n", low=0), y=whole("n")),
    case("x - y * x", lambda x, y: x - y * x, types=INTEGERS, x=whole("n", 3), y=whole(3)),
    case("maximum(x, y)", np.maximum, types=INTEGERS, x=whole("n"), y=whole("n")),
    *unary("-x", lambda x: -x),
    *unary("square(x)", np.square, second=True),
    *unary("sqrt(x)", np.sqrt, positive, second=True),
    *unary("rsqrt(x)", lambda x: 1 / np.sqrt(x), positive, second=True),
    *unary("exp(x)", np.exp, second=True),
    *unary("log(x)", np.log, positive, second=True),
    *unary("tanh(x)", np.tanh, second=True),
    *unary("relu(x)", lambda x: np.maximum(x, 0), distinct),
    case("x == y", lambda x, y: x == y, types="f32 i32", x=whole("n", 3), y=whole(3)),
    case("x != y", lambda x, y: x != y, types="f32 i32", x=whole("n", 3), y=whole(3)),
    case("x < y", lambda x, y: x < y, types="f64 i32", x=whole("n", 3), y=whole(3)),
    case("x <= y", lambda x, y: x <= y, types="f64 i32", x=whole("n", 3), y=whole(3)),
    case("x > y", lambda x, y: x > y, types="f64 i32", x=whole("n", 3), y=whole(3)),
    case("x >= y", lambda x, y: x >= y, types="f64 i32", x=whole("n", 3), y=whole(3)),
    case("select(p, x, y)", lambda p, x, y: np.where(p, x, y), p=truth("n", 3), x=real(3), y=real("n", 3)),
]
