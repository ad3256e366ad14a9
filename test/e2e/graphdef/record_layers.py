"""record_layers.py FOLDER: records the results of TensorFlow (2.21 for those that are stored) for the operations of
layers in frontend/library/tensorflow.graph: a folder for each case, with its graph, feeds and expected values."""

import json
import pathlib
import sys

import numpy as np
import tensorflow as tf

raw, v1 = tf.raw_ops, tf.compat.v1
rng = np.random.default_rng(5)


def record(name, feeds, build, tolerance=1e-5):
    """`build` takes placeholders for `feeds` and returns fetches, both by name; the first axis of feed x is open."""
    graph = tf.Graph()
    with graph.as_default():
        placeholders = {
            key: v1.placeholder(value.dtype, [None, *value.shape[1:]] if key == "x" else value.shape, name=key)
            for key, value in feeds.items()
        }
        fetches = {key: tf.identity(value, name=key) for key, value in build(**placeholders).items()}
    folder = pathlib.Path(sys.argv[1]) / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
    with v1.Session(graph=graph) as session:
        results = session.run(fetches, {placeholders[key]: value for key, value in feeds.items()})
    expected = {f"{key}.expected": value for key, value in results.items()}
    np.savez_compressed(folder / "arrays.npz", **feeds, **expected)
    step = {
        "feeds": {f"{key}:0": key for key in feeds},
        "fetches": {f"{key}:0": f"{key}.expected" for key in results},
        "targets": [],
        "rtol": tolerance,
        "atol": tolerance,
    }
    (folder / "case.json").write_text(json.dumps({"init": [], "arrays": "arrays.npz", "steps": [step]}, indent=1) + "\n")


def normal(*shape):
    return rng.normal(size=shape).astype(np.float32)


RESIZES = {"linear": raw.ResizeBilinear, "nearest": raw.ResizeNearestNeighbor, "cubic": raw.ResizeBicubic}


def resize(x, names=("linear", "nearest")):
    fetches = {}
    for name in names:
        for size in [(9, 4), (3, 11)]:
            for corners, half in [(False, False), (True, False), (False, True)]:
                fetches[f"{name}_{size[0]}_{int(corners)}{int(half)}"] = RESIZES[name](
                    images=x, size=size, align_corners=corners, half_pixel_centers=half)
        y = RESIZES[name](images=x, size=(9, 4), half_pixel_centers=True)
        fetches[f"{name}_gradient"] = tf.gradients(tf.square(y), x)[0]
    return fetches


def resize_area(x):
    return {f"area_{size[0]}": raw.ResizeArea(images=x, size=size) for size in [(3, 2), (9, 4), (10, 14)]}


def crops(x, boxes, numbers):
    fetches = {}
    for method in ["bilinear", "nearest"]:
        for size in [(3, 5), (1, 2)]:
            y = tf.image.crop_and_resize(x, boxes, numbers, size, method=method, extrapolation_value=-2.0)
            fetches[f"{method}_{size[0]}"] = y
            fetches[f"{method}_{size[0]}_gradient"] = tf.gradients(tf.square(y), x)[0]
    return fetches


def images(x, factor):
    red = tf.sigmoid(x)
    return {
        "hsv": raw.RGBToHSV(images=red),
        "rgb": raw.HSVToRGB(images=red),
        "hue": raw.AdjustHue(images=red, delta=factor * 0.25),
        "saturation": raw.AdjustSaturation(images=red, scale=factor),
        "contrast": raw.AdjustContrastv2(images=x, contrast_factor=factor),
        "patches_same": raw.ExtractImagePatches(
            images=x, ksizes=[1, 2, 3, 1], strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding="SAME"),
        "patches_valid": raw.ExtractImagePatches(
            images=x, ksizes=[1, 2, 3, 1], strides=[1, 1, 2, 1], rates=[1, 2, 1, 1], padding="VALID"),
    }


def places(x):
    batch = raw.SpaceToBatchND(input=x, block_shape=[2, 3], paddings=[[0, 0], [2, 1]])
    patches, argmax = raw.MaxPoolWithArgmax(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 1, 1], padding="SAME")
    _, numbered = raw.MaxPoolWithArgmax(
        input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID", include_batch_in_index=True)
    return {
        "depth": raw.SpaceToDepth(input=x, block_size=2),
        "space": raw.DepthToSpace(input=x, block_size=2),
        "batch": batch,
        "back": raw.BatchToSpaceND(input=batch, block_shape=[2, 3], crops=[[0, 0], [2, 1]]),
        "batch2": raw.SpaceToBatch(input=x, paddings=[[1, 1], [0, 0]], block_size=2),
        "largest": patches,
        "argmax": argmax,
        "numbered": numbered,
        "mirrored": tf.gradients(tf.square(raw.MirrorPad(input=x, paddings=[[0, 0], [1, 2], [3, 0], [0, 0]], mode="REFLECT")), x)[0],
        "folded": tf.gradients(tf.square(raw.MirrorPad(input=x, paddings=[[0, 0], [1, 2], [3, 0], [1, 1]], mode="SYMMETRIC")), x)[0],
    }


def norm(x, scale, offset, running_mean, running_variance):
    fetches = {}
    for name, options in [("train", {}), ("moving", {"exponential_avg_factor": 0.25}), ("infer", {"is_training": False})]:
        given = options and name != "train"
        y, mean, variance, *_ = raw.FusedBatchNormV3(
            x=x, scale=scale, offset=offset, epsilon=1e-3,
            mean=running_mean if given else tf.zeros([0]), variance=running_variance if given else tf.zeros([0]),
            **options)
        fetches[f"{name}_y"] = y
        fetches[f"{name}_mean"], fetches[f"{name}_variance"] = mean, variance
        if name != "moving":
            gradients = tf.gradients(tf.reduce_sum(y * tf.cos(x)), [x, scale, offset])
            for of, gradient in zip(["x", "scale", "offset"], gradients):
                fetches[f"{name}_g_{of}"] = gradient
    return fetches


def segments(x, ids, lengths, rows):
    sorted_ids = tf.constant([0, 0, 1, 3, 3], tf.int32)
    fetches = {}
    for of in ["Sum", "Mean", "Prod", "Max", "Min"]:
        fetches[f"sorted_{of}"] = getattr(raw, f"Segment{of}")(data=rows, segment_ids=sorted_ids)
    for of in ["Sum", "Prod", "Max", "Min"]:
        fetches[f"unsorted_{of}"] = getattr(raw, f"UnsortedSegment{of}")(data=rows, segment_ids=ids, num_segments=4)
    for of in ["Sum", "Mean", "SqrtN"]:
        fetches[f"sparse_{of}"] = getattr(raw, f"SparseSegment{of}")(
            data=rows, indices=[4, 0, 1], segment_ids=tf.constant([0, 0, 2]))
    fetches["reversed"] = raw.ReverseSequence(input=x, seq_lengths=lengths, seq_dim=1, batch_dim=0)
    fetches["dense"] = raw.SparseToDense(
        sparse_indices=[[0, 1], [2, 0]], output_shape=[3, 2], sparse_values=[5.0, 6.0], default_value=-1.0)
    fetches["products"] = raw.Cumprod(x=rows, axis=0, exclusive=True, reverse=True)
    fetches["counts"] = raw.Bincount(arr=tf.maximum(ids, 0), size=3, weights=tf.zeros([0]))
    fetches["weights"] = raw.Bincount(arr=tf.maximum(ids, 0), size=4, weights=rows[:, 0])
    fetches["cross_product"] = raw.Cross(a=rows[:, :3], b=rows[:, 1:])
    fetches["steps"] = raw.LinSpace(start=1.0, stop=3.0, num=5)
    fetches["in_top"] = raw.InTopKV2(predictions=rows, targets=ids, k=2)
    fetches["product"] = tf.einsum("bij,kj->bki", x, tf.ones([4, 2]))
    fetches["traces"] = raw.Einsum(inputs=[x, rows], equation="b...i,ck->b...")
    fetches["quantized"] = raw.FakeQuantWithMinMaxArgs(inputs=rows, min=-1.5, max=2.0, num_bits=4)
    fetches["narrow"] = raw.FakeQuantWithMinMaxVars(
        inputs=rows, min=tf.constant(0.5), max=tf.constant(2.0), num_bits=3, narrow_range=True)
    fetches["channels"] = raw.FakeQuantWithMinMaxVarsPerChannel(
        inputs=rows, min=[-1.0, -2.0, -0.1, 0.0], max=[1.1, 0.5, 0.3, 2.0])
    return fetches


def volumes(x):
    average = raw.AvgPool3D(input=x, ksize=[1, 2, 3, 2, 1], strides=[1, 2, 1, 2, 1], padding="SAME")
    largest = raw.MaxPool3D(input=x, ksize=[1, 2, 2, 3, 1], strides=[1, 1, 2, 2, 1], padding="VALID")
    return {
        "average": average,
        "largest": largest,
        "g_average": tf.gradients(tf.square(average), x)[0],
        "g_largest": tf.gradients(tf.square(largest), x)[0],
    }


def fed_shapes(x, size, shape, axis):
    return {
        "resized": raw.ResizeBilinear(images=x, size=size),
        "reshaped": tf.reshape(x, shape),
        "total": tf.reduce_sum(x, axis),
        "filled": tf.fill(tf.concat([size, [2]], 0), 3.0) + tf.cast(axis, tf.float32),
    }


def einsum(x, w, v):
    fetches = {}
    for name, equation, operands in [("rest", "...ij,jk->...ik", [x, w]), ("vector", "...j,j->...", [x, v]), ("all", "abij,abij->", [x, x])]:
        y = tf.einsum(equation, *operands)
        fetches[name] = y
        for of, gradient in zip("xy", tf.gradients(tf.reduce_sum(tf.square(y)), operands)):
            fetches[f"{name}_{of}"] = gradient
    return fetches


record("resize", {"x": normal(2, 6, 7, 3)}, resize)
record("resize_area", {"x": normal(2, 6, 7, 3)}, resize_area)
# TensorFlow rounds the positions of cubic weights to 1/1024.
record("resize_cubic", {"x": normal(2, 6, 7, 3)}, lambda x: resize(x, ["cubic"]), tolerance=5e-3)
record("images", {"x": normal(2, 6, 7, 3), "factor": np.float32(1.3)}, images)
record("places", {"x": normal(2, 6, 6, 4)}, places)
record("batch_norm", {
    "x": normal(3, 4, 5, 2), "scale": normal(2), "offset": normal(2), "running_mean": normal(2),
    "running_variance": np.abs(normal(2))}, norm)
record("segments", {
    "x": normal(3, 5, 2), "ids": np.array([2, 0, -1, 2, 1], np.int32), "lengths": np.array([5, 0, 2], np.int64),
    "rows": normal(5, 4)}, segments)
record("volumes", {"x": normal(2, 5, 6, 7, 2)}, volumes)
record("fed_shapes", {
    "x": normal(2, 3, 4, 1), "size": np.array([5, 6], np.int32), "shape": np.array([4, -1], np.int64),
    "axis": np.int32(2)}, fed_shapes)
record("crops", {
    "x": normal(2, 6, 7, 3), "numbers": np.array([1, 0, 1], np.int32),
    "boxes": np.array([[0.11, 0.23, 0.79, 0.93], [0, 0, 1, 0.98], [-0.2, 0.33, 0.71, 1.4]], np.float32)}, crops)
record("einsum", {"x": normal(2, 2, 3, 4), "w": normal(4, 2), "v": normal(4)}, einsum)
