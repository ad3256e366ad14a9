import math

import numpy as np
from harness import case, real

USES = "use images: resize\n"


def place(i, old, new, coordinates):
    if coordinates == "align_corners":
        return i * (old - 1) / (new - 1) if new > 1 else 0.0
    if coordinates == "pytorch_half_pixel" and new == 1:
        return 0.0
    shift = {"asymmetric": (0, 0), "half_pixel_for_nn": (0.5, 0)}.get(coordinates, (0.5, 0.5))
    return (i + shift[0]) * old / new - shift[1]


def nearest(at, rounding):
    return {"floor": math.floor, "ceil": math.ceil, "prefer_ceil": lambda x: math.floor(x + 0.5),
            "prefer_floor": lambda x: math.ceil(x - 0.5)}[rounding](at)


def cubic(d, a):
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def matrix(old, new, mode, coordinates, rounding, a, antialias):
    result = np.zeros((new, old))
    for i in range(new):
        at = place(i, old, new, coordinates)
        if mode == "area":
            for j in range(old):
                result[i, j] = max(min(j + 1, (i + 1) * old / new) - max(j, i * old / new), 0) * new / old
            continue
        if antialias:
            width = max(old / new, 1)
            kernel = (lambda d: cubic(d, a)) if mode == "cubic" else lambda d: max(1 - abs(d), 0)
            row = [kernel((j - at) / width) for j in range(old)]
            result[i] = np.array(row) / sum(row)
            continue
        low = math.floor(at)
        taps = {"nearest": {nearest(at, rounding): 1.0}, "linear": {low: 1 - (at - low), low + 1: at - low},
                "cubic": {low + k: cubic(at - low - k, a) for k in (-1, 0, 1, 2)}}[mode]
        for j, weight in taps.items():
            result[i, min(max(j, 0), old - 1)] += weight
    return result


def resized(x, size, axes=None, mode="linear", coordinates="half_pixel", rounding="prefer_floor", a=-0.75,
            antialias=False):
    y = x
    for axis, new in zip(axes or range(1, x.ndim - 1), size):
        weights = matrix(x.shape[axis], new, mode, coordinates, rounding, a, antialias)
        y = np.moveaxis(np.tensordot(weights, y, (1, axis)), 0, axis)
    return y.astype(x.dtype)


def image(size, text="", shape=("n", 4, 5, 2), tolerance=None, second=False, **options):
    return case(f"resize(x, size: {size}{text})", lambda x: resized(x, size, **options), x=real(*shape), second=second,
                tolerance=tolerance)


CONVENTIONS = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
CASES = [
    *[image(size, f', mode: "{mode}", coordinates: "{c}"', mode=mode, coordinates=c)
      for c in CONVENTIONS for mode in ("linear", "cubic") for size in ([8, 10], [3, 1])],
    *[image([7, 2], f', mode: "nearest", coordinates: "{c}", rounding: "{r}"', mode="nearest", coordinates=c, rounding=r)
      for c in ("asymmetric", "half_pixel") for r in ("floor", "ceil", "prefer_floor", "prefer_ceil")],
    image([8, 10], ', mode: "nearest", coordinates: "half_pixel_for_nn", rounding: "floor"', mode="nearest",
          coordinates="half_pixel_for_nn", rounding="floor"),
    image([7, 3], second=True),
    image([6], ', mode: "cubic", coefficient: -0.5', mode="cubic", a=-0.5, shape=("n", 3, 1), second=True),
    image([2, 5], ', mode: "area"', mode="area", second=True),
    image([3, 2], ', mode: "area"', mode="area"),
    image([2, 3], ", antialias: true", antialias=True),
    image([6, 2], ', mode: "cubic", antialias: true', mode="cubic", antialias=True),
    image([6, 3], ", axis: [-2, 3]", axes=[2, 3], shape=("n", 2, 3, 4)),
    image([2, 3, 4], shape=(1, 3, 2, "n", 1)[:3] + (2, "n")),
]
