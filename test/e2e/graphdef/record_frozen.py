"""record_frozen.py FOLDER: records functions of TensorFlow 2 (2.21 for those that are stored) whose variables have been frozen,
with control flow lowered to Switch, Merge and frames."""

import json
import pathlib
import sys

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

rng = np.random.default_rng(0)
X = rng.normal(size=(3, 5, 2)).astype(np.float32)
MASK = np.arange(5)[None] < rng.integers(1, 6, size=(3, 1))


def record(name, function, feeds, shapes):
    specs = [tf.TensorSpec(shape, value.dtype, name=key) for (key, value), shape in zip(feeds[0].items(), shapes)]
    frozen = convert_variables_to_constants_v2(
        tf.function(function, autograph=False).get_concrete_function(*specs), lower_control_flow=True
    )
    folder = pathlib.Path(sys.argv[1]) / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "graph.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())
    arrays, case = {}, {"init": [], "arrays": "arrays.npz", "steps": []}
    for i, step in enumerate(feeds):
        values = frozen(*map(tf.constant, step.values()))
        named = {"feeds": zip(frozen.inputs, step.values()), "fetches": zip(frozen.outputs, values)}
        made = {"targets": [], "rtol": 1e-5, "atol": 1e-5}
        for kind, tensors in named.items():
            made[kind] = {}
            for tensor, value in tensors:
                made[kind][tensor.name] = f"{i}.{tensor.op.name}"
                arrays[f"{i}.{tensor.op.name}"] = np.asarray(value)
        case["steps"].append(made)
    np.savez_compressed(folder / "arrays.npz", **arrays)
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


def layer(kind):
    made = getattr(keras.layers, kind)(4, return_sequences=True)
    return lambda x, mask: [made(x, mask=mask)]


def case(x):
    k = tf.math.floormod(tf.cast(tf.reduce_sum(x) * 3, tf.int32), 5)
    return [tf.switch_case(k, [lambda: x + 1, lambda: x * 2, lambda: tf.exp(x), lambda: x - k_of(x)], default=lambda: -x)]


def k_of(x):
    return tf.reduce_max(x, axis=0, keepdims=True)


for kind in "LSTM", "GRU":
    record(f"frozen_{kind.lower()}", layer(kind), [{"x": X, "mask": MASK}], [[None, 5, 2], [None, 5]])
record("frozen_case", case, [{"x": X + i * np.float32(0.01)} for i in range(12)], [[3, 5, 2]])
