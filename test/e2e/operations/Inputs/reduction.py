import numpy as np
from harness import case, distinct, real, whole


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


CASES = [
    *over_axes("sum", np.sum, second=True),
    *over_axes("mean", np.mean, second=True),
    *over_axes("max", np.max, distinct),
    case("sum(x, axis: 0)", lambda x: x.sum(axis=0), x=real("n", 3), sizes=(0, 64, 1000), gradient=False),
    case("sum(x)", lambda x: x.sum(), types="f32", x=real("n"), sizes=(0, 1, 10007), tolerance=1e-3),
    case("sum(x, axis: 1)", lambda x: x.sum(axis=1, dtype=np.int32), types="i32", x=whole("n", 3)),
    case("max(x, axis: 1)", lambda x: x.max(axis=1), types="i32 i64", x=whole("n", 3)),
]
