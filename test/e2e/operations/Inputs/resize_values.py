"""resize_values.py torch|tensorflow|onnx FILE.npz: writes what a peer computes where images are resized, for
resize_peers.py: expressions of the graph language, which name their input, and the values."""

import itertools
import sys

import numpy as np

SIZES = {1: (5,), 2: (4, 6), 3: (3, 4, 5)}
NEW_SIZES = {1: [(8,), (10,), (3,), (1,)], 2: [(8, 12), (7, 9), (3, 4), (6, 2)], 3: [(6, 5, 3), (2, 8, 5)]}
# Each changes all sizes: PyTorch copies an axis whose size stays, whatever the scale.
# They are numbers of f32, as the peers have them.
SCALES = {1: [1.7, 0.7], 2: [2.3, 0.7], 3: [1.45]}
SCALES = {rank: [float(np.float32(scale)) for scale in scales] for rank, scales in SCALES.items()}
IMAGES = {rank: np.random.default_rng(rank).normal(size=(1, *sizes, 2)).astype(np.float32)
          for rank, sizes in SIZES.items()}
CASES = []


def keep(y, rank, tolerance=1e-5, **options):
    """Stores `y`, the result of resizing the image of this rank with these options."""
    given = "".join(f", {name}: {literal(value)}" for name, value in options.items())
    CASES.append((f"resize(x{rank}{given})", np.asarray(y, np.float32), tolerance))


def literal(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return f"[{', '.join(map(literal, value))}]" if isinstance(value, (list, tuple)) else repr(value)


def scaled(rank, scale):
    return [int(size * scale) for size in SIZES[rank]]


def of_torch():
    import torch
    from torch.nn import functional as F

    linear = {1: "linear", 2: "bilinear", 3: "trilinear"}
    # The options here for each of their modes.
    modes = {"nearest": dict(mode="nearest", coordinates="asymmetric", rounding="floor"),
             "nearest-exact": dict(mode="nearest", rounding="prefer_ceil"), "bicubic": dict(mode="cubic")}

    def run(rank, mode, **options):
        x = torch.tensor(np.moveaxis(IMAGES[rank], -1, 1).copy())
        return np.moveaxis(F.interpolate(x, mode=mode, **options).numpy(), 1, -1)

    def resized(rank, mode, **options):
        for size in NEW_SIZES[rank]:
            yield list(size), run(rank, mode, size=size, **options)

    for rank in SIZES:
        for mode in ["nearest", "nearest-exact", linear[rank]] + ["bicubic"] * (rank == 2):
            same = modes.get(mode, {})
            for size, y in resized(rank, mode):
                keep(y, rank, size=size, **same)
            for scale in SCALES[rank]:
                keep(run(rank, mode, scale_factor=scale, recompute_scale_factor=False), rank, scale=scale, **same)
            if not mode.startswith("nearest"):
                for size, y in resized(rank, mode, align_corners=True):
                    keep(y, rank, size=size, **same, coordinates="align_corners")
    for mode, same in ("bilinear", {}), ("bicubic", dict(mode="cubic", coefficient=-0.5)):
        for size, y in resized(2, mode, antialias=True):
            keep(y, 2, size=size, **same, antialias=True)
        for scale in SCALES[2]:
            y = run(2, mode, antialias=True, scale_factor=scale, recompute_scale_factor=False)
            keep(y, 2, scale=scale, **same, antialias=True)


def of_tensorflow():
    import tensorflow as tf

    x = IMAGES[2]
    names = {"bilinear": "linear", "bicubic": "cubic", "lanczos3": "lanczos3", "lanczos5": "lanczos5",
             "gaussian": "gaussian", "mitchellcubic": "mitchell"}
    keys = dict(coefficient=-0.5, outside="skip")

    # Its bicubic has a table of 1024 positions between two elements.
    def rough(mode, size):
        return 1e-2 if mode == "cubic" and size != (8, 12) else 1e-5

    for size, antialias in itertools.product(NEW_SIZES[2], (False, True)):
        for method, mode in names.items():
            y = tf.image.resize(x, size, method=method, antialias=antialias)
            more = keys if mode == "cubic" else {}
            keep(y, 2, 1e-5 if antialias else rough(mode, size), size=size, mode=mode, antialias=antialias, **more)
    for size in NEW_SIZES[2]:
        keep(tf.image.resize(x, size, method="nearest"), 2, size=size, mode="nearest",
             coordinates="tf_half_pixel_for_nn", rounding="floor")
        keep(tf.image.resize(x, size, method="area"), 2, size=size, mode="area")
        raw, old = tf.raw_ops, dict(images=x, size=size)
        for where, aligned in ("asymmetric", False), ("align_corners", True):
            same = dict(size=size, coordinates=where)
            keep(raw.ResizeBilinear(align_corners=aligned, **old), 2, **same)
            keep(raw.ResizeBicubic(align_corners=aligned, **old), 2, 1e-2, mode="cubic", **same)
            keep(raw.ResizeNearestNeighbor(align_corners=aligned, **old), 2, mode="nearest", **same,
                 rounding="prefer_ceil" if aligned else "floor")
            keep(raw.ResizeArea(align_corners=aligned, **old), 2, mode="area", **same)
        for roi in [0.1, 0.2, 0.91, 0.72], [-0.21, 0.52, 0.6, 1.3], [0.92, 0.1, 0.2, 0.83]:
            for method, same in ("bilinear", {}), ("nearest", dict(mode="nearest", rounding="prefer_ceil")):
                y = tf.image.crop_and_resize(x, [roi], [0], size, method, extrapolation_value=-2.5)
                keep(y, 2, size=size, coordinates="tf_crop_and_resize", roi=roi, value=-2.5, **same)


def of_onnx():
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    def run(rank, size=None, scale=None, roi=None, **attributes):
        axes = list(range(1, rank + 1))
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)]
        constants = {"r": (TensorProto.FLOAT, roi), "k": (TensorProto.FLOAT, scale), "s": (TensorProto.INT64, size)}
        tensors = [helper.make_tensor(name, kind, [len(v)], v) for name, (kind, v) in constants.items() if v]
        names = ["x"] + [name if constants[name][1] else "" for name in constants]
        node = helper.make_node("Resize", names, ["y"], axes=axes, **attributes)
        outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
        graph = helper.make_graph([node], "resize", inputs, outputs, tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
        return ReferenceEvaluator(model).run(None, {"x": IMAGES[rank]})[0]

    sizes = {1: [(8,), (3,), (1,)], 2: [(7, 9), (3, 2)], 3: [(6, 5, 3)]}
    places = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]
    for rank, where in itertools.product(SIZES, places):
        modes = [("linear", {}, {}), ("cubic", {}, {})]
        modes += [("cubic", dict(exclude_outside=1), dict(outside="skip"))]
        modes += [("nearest", dict(nearest_mode=f"round_{r}" if "_" in r else r), dict(rounding=r))
                  for r in ("prefer_floor", "prefer_ceil", "floor", "ceil")][: 4 if rank == 2 else 1]
        if where != "align_corners":
            modes += [("linear", dict(antialias=1), dict(antialias=True, outside="edge")),
                      ("cubic", dict(antialias=1), dict(antialias=True, outside="edge"))]
            modes += [("cubic", dict(antialias=1, exclude_outside=1), dict(antialias=True))]
        for mode, theirs, same in modes:
            theirs = dict(mode=mode, coordinate_transformation_mode=where, **theirs)
            same = dict(mode=mode, coordinates=where, **same)
            # If one element is left, its cubic does not follow its documentation.
            for size in [s for s in sizes[rank] if 1 not in s or where != "pytorch_half_pixel"]:
                keep(run(rank, size=size, **theirs), rank, size=size, **same)
            for scale in SCALES[rank]:
                keep(run(rank, scale=[scale] * rank, **theirs), rank, scale=scale, **same)
    for policy, size in itertools.product(("not_larger", "not_smaller"), NEW_SIZES[2]):
        y = run(2, size=size, mode="linear", keep_aspect_ratio_policy=policy)
        keep(y, 2, size=size, aspect=policy)
    for mode, rounding in ("linear", {}), ("cubic", {}), ("nearest", dict(rounding="prefer_floor")):
        for size in NEW_SIZES[2]:
            roi = [0.1, -0.2, 1.2, 0.7]
            theirs = dict(mode=mode, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=4.0)
            keep(run(2, size=size, roi=roi, **theirs), 2, size=size, mode=mode, coordinates="tf_crop_and_resize",
                 roi=roi, value=4.0, **rounding)


if __name__ == "__main__":
    globals()[f"of_{sys.argv[1]}"]()
    images = {f"x{rank}": x for rank, x in IMAGES.items()}
    calls, values, tolerances = zip(*CASES)
    np.savez_compressed(sys.argv[2], calls=np.array("\n".join(calls)), tolerances=np.array(tolerances, np.float32),
                        sizes=np.array([y.shape[1:-1] + (1,) * (5 - y.ndim) for y in values]),
                        values=np.concatenate([y.ravel() for y in values]), **images)
    print(len(CASES), "cases")
