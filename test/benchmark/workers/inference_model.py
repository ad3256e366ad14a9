"""Prepares an ONNX model for the benchmark `inference`, and compares results; needs `onnx` and NumPy.

    inference_model.py describe MODEL FOLDER NAME=SIZE ...   writes feeds into FOLDER, prints their names as JSON
    inference_model.py compare FOLDER SYSTEM SYSTEM ...      prints the largest difference of two systems' results

A feed is in FOLDER/feed.NUMBER.npy, a result in FOLDER/SYSTEM.NUMBER.npy, in the order of the model.
"""

import itertools
import json
import math
import os
import sys

# Operation -> which input has the weights.
CONVOLUTIONS = {"Conv": 1, "ConvInteger": 1, "QLinearConv": 3}
PRODUCTS = ("MatMul", "MatMulInteger", "QLinearMatMul")
RECURRENT = ("LSTM", "GRU", "RNN")
UNCOUNTED = ("Einsum", "Attention", "MultiHeadAttention", "GroupQueryAttention", "If", "Loop", "Scan")
LARGE = 8192  # bytes; a weight above it determines no shape


def multiply_adds(node, shapes):
    """Multiply-adds of the direct algorithm; `shapes` maps a name of a value to its sizes."""
    inputs = [shapes.get(name) for name in node.input]
    if node.op_type in CONVOLUTIONS:
        return math.prod(shapes[node.output[0]]) * math.prod(inputs[CONVOLUTIONS[node.op_type]][1:])
    if node.op_type == "ConvTranspose":
        return math.prod(inputs[0]) * math.prod(inputs[1][1:])
    if node.op_type in PRODUCTS:
        return math.prod(shapes[node.output[0]]) * inputs[0][-1]
    if node.op_type == "Gemm":
        is_transposed = any(a.name == "transA" and a.i for a in node.attribute)
        return math.prod(shapes[node.output[0]]) * inputs[0][0 if is_transposed else 1]
    if node.op_type in RECURRENT:  # steps and rows, in either order, times all gates of all directions
        return inputs[0][0] * inputs[0][1] * (math.prod(inputs[1]) + math.prod(inputs[2]))
    return 0


def set_sizes(values, sizes):
    """Gives named sizes their values."""
    for value in values:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]


def shape_of(value):
    """The sizes, or None if one is unknown."""
    tensor = value.type.tensor_type
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
    return None if not tensor.HasField("shape") or None in sizes else sizes


def draw(value, dtype, sizes, random):
    import numpy as np

    shape = shape_of(value)
    if shape is None:
        names = [dim.dim_param or "?" for dim in value.type.tensor_type.shape.dim if not dim.HasField("dim_value")]
        raise ValueError(f"the input '{value.name}' has sizes without a value: {', '.join(names)}")
    if np.issubdtype(dtype, np.floating):
        return random.normal(size=shape).astype(dtype)
    if "mask" in value.name or dtype == np.bool_:
        return np.ones(shape, dtype)
    if value.name == "pos":  # that of the next element
        return np.full(shape, sizes.get("past", 0), dtype)
    return random.integers(0, 1000 if dtype.itemsize > 1 else 100, shape).astype(dtype)


def weight_bytes(model, sizes_of):
    """The bytes of all constants that a call reads as a whole: tables of `Gather` are not."""
    read = {name for node in model.graph.node if node.op_type != "Gather" for name in node.input}
    return sum(sizes_of(w) for w in model.graph.initializer if w.name in read)


def describe(path, folder, *sizes):
    import numpy as np
    import onnx

    sizes = {name: int(size) for name, size in (text.split("=") for text in sizes)}
    model = onnx.load(path)
    dtype_of = onnx.helper.tensor_dtype_to_np_dtype
    weights = weight_bytes(model, lambda w: math.prod(w.dims) * dtype_of(w.data_type).itemsize)
    for weight in model.graph.initializer:
        if len(weight.raw_data) > LARGE:
            weight.ClearField("raw_data")
    held = {weight.name for weight in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in held]
    symbols = {dim.dim_param for value in inputs for dim in value.type.tensor_type.shape.dim if dim.dim_param}
    set_sizes([*model.graph.input, *model.graph.output], sizes)
    random = np.random.default_rng(0)
    for number, value in enumerate(inputs):
        array = draw(value, dtype_of(value.type.tensor_type.elem_type), sizes, random)
        np.save(os.path.join(folder, f"feed.{number}.npy"), array)

    del model.graph.value_info[:]  # inferred again, with all sizes known
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    shapes = {value.name: shape_of(value) for value in [*model.graph.value_info, *model.graph.input, *model.graph.output]}
    shapes.update((weight.name, list(weight.dims)) for weight in model.graph.initializer)
    try:
        products = sum(multiply_adds(node, shapes) for node in model.graph.node)
    except (TypeError, KeyError, IndexError):  # a shape that is not known
        products = None
    return {
        "inputs": [value.name for value in inputs],
        "outputs": [
            {"name": v.name, "shape": shapes[v.name], "dtype": dtype_of(v.type.tensor_type.elem_type).name}
            for v in model.graph.output
        ],
        "sizes": sorted(symbols),
        "multiply_adds": products,
        "uncounted": sorted({node.op_type for node in model.graph.node} & set(UNCOUNTED)),
        "weight_bytes": weights,
        "is_quantized": any(node.op_type == "QuantizeLinear" for node in model.graph.node),
    }


def difference(first, second):
    """The largest difference by the largest element, of all results."""
    import numpy as np

    worst = 0.0
    for a, b in zip(first, second, strict=True):
        if a.shape != b.shape:
            return None
        if a.size:
            a, b = a.astype(np.float64), b.astype(np.float64)
            largest = max(np.abs(a).max(), np.abs(b).max())
            apart = np.abs(a - b).max() / largest if largest > 0 else 0.0
            if not np.isfinite(apart):
                return None
            worst = max(worst, float(apart))
    return worst


def compare(folder, *systems):
    """[system, system, difference] of all pairs; the difference is None if shapes differ or an element is no number."""
    import numpy as np

    def results(system):
        paths = (os.path.join(folder, f"{system}.{i}.npy") for i in itertools.count())
        return [np.load(path, mmap_mode="r") for path in itertools.takewhile(os.path.exists, paths)]

    return [[a, b, difference(results(a), results(b))] for a, b in itertools.combinations(systems, 2)]


if __name__ == "__main__":
    print(json.dumps({"describe": describe, "compare": compare}[sys.argv[1]](*sys.argv[2:])))
