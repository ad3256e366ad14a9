import math

import numpy as np
from harness import Operand, case, real, truth, whole

USES = "use images: resize\n"


def place(i, old, new, coordinates, scale=None, roi=(0, 1)):
    length = scale * old if scale else new
    if coordinates == "tf_crop_and_resize":
        start, end = (old - 1) * roi[0], (old - 1) * roi[1]
        return start + i * (end - start) / (length - 1) if length > 1 else (start + end) / 2
    if coordinates == "half_pixel_symmetric":
        return (i + 0.5) * old / length - 0.5 + old / 2 * (1 - new / length)
    if coordinates == "align_corners":
        return i * (old - 1) / (length - 1) if length > 1 else 0.0
    if coordinates == "pytorch_half_pixel" and new == 1:
        return 0.0
    shift = {"asymmetric": (0, 0), "tf_half_pixel_for_nn": (0.5, 0)}.get(coordinates, (0.5, 0.5))
    return (i + shift[0]) * old / length - shift[1]


def nearest(at, rounding):
    return {"floor": math.floor, "ceil": math.ceil, "prefer_ceil": lambda x: math.floor(x + 0.5),
            "prefer_floor": lambda x: math.ceil(x - 0.5)}[rounding](at)


def cubic(d, a):
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def kernel(d, mode, a):
    if mode == "lanczos3":
        return np.sinc(d) * np.sinc(d / 3) * (abs(d) < 3)
    if mode == "gaussian":
        return np.exp(-2 * d * d) * (abs(d) < 1.5)
    return cubic(d, a) if mode == "cubic" else max(1 - abs(d), 0)


def matrix(old, new, mode, coordinates, rounding, a, antialias, outside, scale, roi):
    result = np.zeros((new, old))
    for i in range(new):
        at = place(i, old, new, coordinates, scale, roi)
        if mode == "area":
            for j in range(old):
                result[i, j] = max(min(j + 1, (i + 1) * old / new) - max(j, i * old / new), 0) * new / old
            continue
        width = max(1 / scale if scale else old / new, 1) if antialias else 1
        reach = math.ceil(3 * width)
        taps = range(math.floor(at) - reach, math.floor(at) + reach + 2)
        if mode == "nearest":
            taps = [nearest(at, rounding)]
        weights = {j: 1.0 if mode == "nearest" else kernel((j - at) / width, mode, a) for j in taps}
        edge = outside == "edge" or outside == "auto" and not antialias and mode in ("nearest", "linear", "cubic")
        kept = {j: weight for j, weight in weights.items() if edge or 0 <= j < old}
        for j, weight in kept.items():
            result[i, min(max(j, 0), old - 1)] += weight / sum(kept.values())
    return result


def resized(x, size, axes=None, mode="linear", coordinates="half_pixel", rounding="prefer_floor", a=-0.75,
            antialias=False, outside="auto", scale=None, scales=None, roi=None, value=0.0):
    y = x.astype(np.float64)
    axes = axes or range(1, x.ndim - 1)
    for i, (axis, new) in enumerate(zip(axes, size)):
        old, part = x.shape[axis], (0, 1) if roi is None else (roi[i], roi[len(size) + i])
        scale = scales[i] if scales else scale
        weights = matrix(old, new, mode, coordinates, rounding, a, antialias, outside, scale, part)
        y = np.moveaxis(np.tensordot(weights, y, (1, axis)), 0, axis)
        if roi is not None:
            at = np.array([place(j, old, new, coordinates, scale, part) for j in range(new)])
            beyond = (at < 0) | (at > old - 1)
            y = np.where(beyond.reshape(-1, *[1] * (x.ndim - axis - 1)), value, y)
    return y.astype(x.dtype)


def image(size, text="", shape=("n", 4, 5, 2), tolerance=None, second=False, **options):
    return case(f"resize(x, size: {size}{text})", lambda x: resized(x, size, **options), x=real(*shape), second=second,
                tolerance=tolerance)


def cropped(x, roi):
    return resized(x, [3, 4], coordinates="tf_crop_and_resize", roi=roi, value=0.5)


# Both ends are so far from elements that central differences are valid.
ROI = Operand((4,), lambda r, s: np.array([0.23, -0.31, 0.94, 0.72]))


CONVENTIONS = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
CASES = [
    *[image(size, f', mode: "{mode}", coordinates: "{c}"', mode=mode, coordinates=c)
      for c in CONVENTIONS for mode in ("linear", "cubic") for size in ([8, 10], [3, 1])],
    *[image([7, 2], f', mode: "nearest", coordinates: "{c}", rounding: "{r}"', mode="nearest", coordinates=c, rounding=r)
      for c in ("asymmetric", "half_pixel") for r in ("floor", "ceil", "prefer_floor", "prefer_ceil")],
    image([8, 10], ', mode: "nearest", coordinates: "tf_half_pixel_for_nn", rounding: "floor"', mode="nearest",
          coordinates="tf_half_pixel_for_nn", rounding="floor"),
    image([7, 3], second=True),
    image([6], ', mode: "cubic", coefficient: -0.5', mode="cubic", a=-0.5, shape=("n", 3, 1), second=True),
    image([2, 5], ', mode: "area"', mode="area", second=True),
    image([3, 2], ', mode: "area"', mode="area"),
    image([2, 3], ", antialias: true", antialias=True),
    image([6, 2], ', mode: "cubic", antialias: true', mode="cubic", antialias=True),
    image([6, 3], ", axis: [-2, 3]", axes=[2, 3], shape=("n", 2, 3, 4)),
    image([7, 3], ', mode: "cubic", coefficient: -0.5, outside: "skip"', mode="cubic", a=-0.5, outside="skip", second=True),
    image([7, 3], ', outside: "skip"', outside="skip"),
    image([2, 3], ', mode: "cubic", antialias: true, outside: "edge"', mode="cubic", antialias=True, outside="edge",
          second=True),
    image([7, 2], ', mode: "lanczos3"', mode="lanczos3", second=True),
    image([7, 2], ', mode: "gaussian", antialias: true', mode="gaussian", antialias=True),
    image([6, 7], ', scale: 1.57, coordinates: "half_pixel_symmetric"', scale=1.57, coordinates="half_pixel_symmetric"),
    image([2, 3], ', scale: 0.7, coordinates: "align_corners", mode: "cubic"', scale=0.7, coordinates="align_corners",
          mode="cubic"),
    case('resize(x, size: [3, 4], coordinates: "tf_crop_and_resize", roi: roi, value: 0.5)', cropped,
         x=real("n", 4, 5, 2), roi=ROI, second=True),
    case('resize(x, size: [2 * n, n // 2 + 1])', lambda x: resized(x, [2 * x.shape[1], x.shape[1] // 2 + 1]),
         x=real(2, "n", "n", 1), sizes=(1, 4), result="{T}[2, 2 * n, n // 2 + 1, 1]"),
    case('resize(x, size: [n // 3 + 1, 2], axis: [0, 1], antialias: true)',
         lambda x: resized(x, [len(x) // 3 + 1, 2], axes=[0, 1], antialias=True), x=real("n", 5), sizes=(1, 4, 7),
         result="{T}[n // 3 + 1, 2]"),
    case("resize(x, scale: 2)", lambda x: resized(x, [2 * s for s in x.shape[1:3]], scale=2), x=real(2, "n", 3, 1),
         sizes=(1, 4)),
    case("resize(x, scale: [1.5, 0.75])", lambda x: resized(x, [x.shape[1] * 3 // 2, 2], scales=[1.5, 0.75]),
         x=real(2, "n", 3, 1), sizes=(1, 4), result="{T}[2, n * 3 // 2, 2, 1]"),
    *[case('resize(x, size: [7, 3], mode: "nearest")', lambda x: resized(x, [7, 3], mode="nearest"), types=kind,
           x=whole("n", 4, 5, 2)) for kind in ("i8 i32 i64", "f16")],
    case('resize(x, size: [7, 3], mode: "nearest")', lambda x: resized(x, [7, 3], mode="nearest"), types="f32",
         x=truth("n", 4, 5, 2)),
    case('resize(x, size: [7, 3], mode: "cubic")', lambda x: resized(x, [7, 3], mode="cubic"), types="f16",
         x=real("n", 4, 5, 2)),
    image([2, 3, 4], shape=(1, 3, 2, "n", 1)[:3] + (2, "n")),
]
