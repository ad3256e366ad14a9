import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np
import windows as w
from harness import case, distinct, positive, real, whole


def call(name, x, options, function=None, size=None, **checks):
    """A case for an operation on `x` whose options are those of its reference."""
    options = {**({"size": size} if size else {}), **options}
    given = "".join(f", {key}: {literal(value)}" for key, value in options.items())
    reference = getattr(w, name)
    return case(f"{name}(x{given})", lambda x: reference(x, **options), x=x, **checks)


def literal(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return f"[{', '.join(map(str, value))}]" if isinstance(value, (list, tuple)) else str(value)


OVER = [
    ((5, 6, 2), dict(size=2)),
    ((5, 6, 2), dict(size=2, padding="same")),
    ((5, 5, 1), dict(size=3, stride=2, padding="same")),
    ((5, 4, 3), dict(size=[3, 2], stride=1, padding="same")),
    ((7, 6, 1), dict(size=[2, 3], stride=[3, 2])),
    ((7, 6, 2), dict(size=2, dilation=2, stride=1)),
    ((4, 4, 2), dict(size=3, stride=2, pads=1)),
    ((4, 4, 1), dict(size=2, stride=2, pads=[0, 1, 2, 1])),
    ((7, 2), dict(size=3, stride=2)),
    ((3, 4, 2, 2), dict(size=2, stride=[1, 2, 1])),
    ((5, 6, 2), dict(size=[3, 2], stride=[2, 3], ceil=True)),
    ((5, 4, 1), dict(size=2, stride=3, pads=1, ceil=True)),
]


def both(name, draw, **checks):
    return [call(name, draw("n", *sizes), options, second=True, **checks) for sizes, options in OVER]


CASES = [
    *both("max_pool", distinct),
    *both("max_pool_with_indices", distinct),
    *both("avg_pool", real),
    call("avg_pool", real("n", 4, 4, 2), dict(size=3, stride=2, pads=1, count_padding=True), second=True),
    call("avg_pool", real("n", 5, 2), dict(size=2, padding="same", count_padding=True)),
    call("avg_pool", real("n", 5, 4, 2), dict(size=3, stride=2, pads=1, ceil=True, count_padding=True), second=True),
    call("avg_pool", real("n", 8, 2), dict(size=3, stride=4, pads=[1, 0], ceil=True, count_padding=True)),
    call("avg_pool", real("n", 9, 1), dict(size=2, dilation=3, stride=4, ceil=True, count_padding=True)),
    call("avg_pool", real("n", 5, 2), dict(size=2, padding="same", ceil=True, count_padding=True)),
    call("avg_pool", real(2, "n", 2), dict(size=3, stride=2, pads=1, ceil=True, count_padding=True), sizes=(1, 2, 4, 5),
         result="{T}[2, min(n // 2, n // 2) + 1, 2]"),
    call("max_pool", distinct(2, "n", 2), dict(size=2, stride=3, ceil=True), sizes=(2, 3, 4, 5),
         result="{T}[2, min(n // 3, (n - 1) // 3) + 1, 2]"),
    call("avg_pool", real("n", 2, 2, 1), dict(size=2, stride=1, pads=3), gradient=False),
    call("max_pool", whole("n", 4, 4, 3), dict(size=2, pads=1, stride=2), types="i32 i8"),
    case("max_pool(x, size: 2) + 2.0 * max_pool_with_indices(x, size: 2)[0] + max_pool(x, size: 2)",
         lambda x: 4 * w.max_pool(x, 2), x=distinct("n", 4, 6, 3), second=True),
    # The smallest number is that of padding, too, which precedes it here.
    case("max_pool_with_indices(log(x - x), size: [2, 3], stride: [1, 2], dilation: [2, 1], pads: [2, 1, 1, 3])",
         lambda x: w.max_pool_with_indices(np.log(x - x), [2, 3], stride=[1, 2], dilation=[2, 1], pads=[2, 1, 1, 3]),
         x=real("n", 4, 5, 2), gradient=False),
    call("max_pool_with_indices", whole("n", 9, 11, 40, low=0, high=3), dict(size=3, stride=2, padding="same"),
         types="f32 f16 u8", gradient=False),
    call("max_pool", distinct("n", 9, 14, 17), dict(size=3, stride=[2, 3], pads=1)),
    call("max_pool", distinct("n", 8, 13, 9), dict(size=[3, 2], stride=[3, 2], dilation=[1, 2])),
    call("max_pool", real("n", 9, 11, 40), dict(size=3, stride=2, padding="same"), gradient=False),
    call("avg_pool", real("n", 9, 11, 40), dict(size=3, stride=2, padding="same"), gradient=False),
    call("max_pool", distinct(2, "n", 2), dict(size=2, padding="same"), result="{T}[2, (n + 1) // 2, 2]"),
    call("avg_pool", real(2, "n", 2), dict(size=2, padding="same"), result="{T}[2, (n + 1) // 2, 2]"),
    call("avg_pool", real(2, "n", 2), dict(size=3, stride=1), sizes=(3, 5), result="{T}[2, n - 2, 2]"),
    # Ties and NaN: the first of equal elements, a NaN before others; -1 where there is only padding.
    call("max_pool_with_indices", whole("n", 4, 4, 2, low=0, high=2), dict(size=3, stride=1, padding="same"),
         types="i32 i8"),
    case("max_pool_with_indices(sqrt(x), size: 2)",
         lambda x: w.max_pool_with_indices(np.sqrt(x), 2), x=real("n", 4, 4, 2), gradient=False),
    case("max_pool_with_indices(x, size: 2, stride: 1, pads: 3, dtype: i64)",
         lambda x: w.max_pool_with_indices(x, 2, stride=1, pads=3, dtype=np.int64), x=real("n", 2, 2, 1),
         gradient=False),
    case("max_pool(log(x - x), size: 2, stride: 1, pads: 1)", lambda x: w.max_pool(np.log(x - x), 2, stride=1, pads=1),
         x=real("n", 2, 2, 1), gradient=False),
    case("windows(x, size: [2, 3], stride: [2, 1], dilation: [1, 2])",
         lambda x: w.windows(x, [2, 3], [2, 1], [1, 2]), x=real("n", 5, 7, 2), second=True),
    case("windows(x, size: [3])", lambda x: w.windows(x, [3]), x=real("n", 5)),
    case("windows(x, size: [3], count: [2], stride: 2)", lambda x: w.windows(x[:, :5], [3], 2),
         x=real("n", 8, 2), second=True),
    case("windows(x, size: [3], count: [4], stride: 2, low: [2], value: 0.25)",
         lambda x: w.windows(np.pad(x, ((0, 0), (2, 3), (0, 0)), constant_values=0.25)[:, :9], [3], 2),
         x=real("n", 5, 2), second=True),
    case("place_windows(x, shape: [6], stride: 2, dilation: 2, low: [1], value: 0.5)",
         lambda x: w.place_windows(x, [6], 2, 2, 1, 0.5), x=real("n", 3, 2, 2), second=True),
    case("place_windows(x, shape: [4, 5], stride: [1, 2])", lambda x: w.place_windows(x, [4, 5], [1, 2]),
         x=real("n", 3, 2, 2, 3), second=True),
    case('contract(x, y, labels: "n a b, b a c -> c n")', lambda x, y: np.einsum("nab,bac->cn", x, y),
         x=real("n", 2, 3), y=real(3, 2, 4), second=True, tolerance=1e-5),
    case('contract(reverse(x, axis: 1), reverse(y, axis: 0), labels: "n a, a c -> n c")',
         lambda x, y: x[:, ::-1] @ y[::-1], x=real("n", 3), y=real(3, 4), tolerance=1e-5),
    call("local_response_norm", positive("n", 3, 7), dict(radius=2, bias=2.0, alpha=0.5, beta=0.75), second=True),
    call("local_response_norm", real("n", 2, 2, 3), dict(), tolerance=1e-5),
    # Squares that overflow f16.
    case("local_response_norm(300.0 * x)", lambda x: w.local_response_norm(300 * x.astype(np.float32)).astype(x.dtype),
         types="f16", x=positive("n", 3, 7)),
]
