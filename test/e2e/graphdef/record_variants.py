"""record_variants.py FOLDER: records loops over the rows of ragged tensors in TensorFlow (2.21 for those that are stored),
which read and return ragged tensors in variants, and lists of tensors of several sizes; each as it is with functions, and with
the control flow of TensorFlow 1."""

import numpy as np
import tensorflow as tf
from recording import write_case
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

rng = np.random.default_rng(0)
FLOAT, ROWS = tf.float32, tf.RaggedTensorSpec([None], tf.float32, ragged_rank=0)
floats = lambda *shape: rng.normal(size=shape).astype(np.float32)
splits = lambda *numbers: np.array(numbers, np.int64)


def ragged(values, *splits):
    return tf.RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def reduced(values, splits):
    return tf.map_fn(lambda row: tf.reduce_sum(row) * 2.0, ragged(values, splits), fn_output_signature=FLOAT)


def mapped(values, splits):
    return tf.map_fn(lambda row: row * 2.0 + tf.cast(tf.size(row), FLOAT), ragged(values, splits), fn_output_signature=ROWS)


def selected(values, splits, weights):
    """Rows become shorter, and a tensor is read and another one returned beside them."""
    def body(each):
        row, weight = each
        return tf.boolean_mask(row, row > 0.0) * weight, tf.reduce_sum(row)

    return tf.map_fn(body, (ragged(values, splits), weights), fn_output_signature=(ROWS, FLOAT))


def deep(values, outer, inner):
    """The rows have rows."""
    rows = ragged(values, outer, inner)
    same = tf.map_fn(lambda row: row + tf.reduce_sum(row), rows, fn_output_signature=tf.RaggedTensorSpec([None, None], FLOAT, 1))
    return same, tf.map_fn(lambda row: tf.reduce_sum(row), rows, fn_output_signature=FLOAT)


def wide(values, splits):
    """Values are vectors."""
    return tf.map_fn(lambda row: row[:, 1:] * 2.0, ragged(values, splits),
                     fn_output_signature=tf.RaggedTensorSpec([None, 2], FLOAT, 0))


def even(x):
    """All rows that are returned have one size."""
    return tf.map_fn(lambda row: row * 2.0, x, fn_output_signature=tf.RaggedTensorSpec([3], FLOAT, 0))


def joined(values, splits):
    """A list of rows is joined."""
    rows = ragged(values, splits)
    array = tf.TensorArray(FLOAT, size=3, infer_shape=False, element_shape=[None])
    _, array = tf.while_loop(lambda i, array: i < 3, lambda i, array: (i + 1, array.write(i, rows[i] * 2.0)), [0, array])
    return array.concat()


def gradient(build):
    def backward(values, splits):
        with tf.GradientTape() as tape:
            tape.watch(values)
            loss = build(values, splits)
        return tape.gradient(loss, values)

    return backward


def squares(values, splits):
    rows = ragged(values, splits)
    return tf.reduce_sum(tf.map_fn(lambda row: tf.reduce_sum(row * row) * tf.reduce_sum(row), rows, fn_output_signature=FLOAT))


def cubes(values, splits):
    rows = ragged(values, splits)
    return tf.reduce_sum(tf.map_fn(lambda row: row * row * tf.reduce_sum(row), rows, fn_output_signature=ROWS).flat_values ** 2)


def record(name, build, shapes, steps):
    arguments = [tf.TensorSpec(shape, tf.as_dtype(value.dtype), name=f"x{i}")
                 for i, (shape, value) in enumerate(zip(shapes, steps[0]))]
    function = tf.function(lambda *x: [tf.identity(y) for y in tf.nest.flatten(build(*x), expand_composites=True)],
                           input_signature=arguments, autograph=False)
    for kind, lower in [("functions", False), ("lowered", True)]:
        frozen = convert_variables_to_constants_v2(function.get_concrete_function(), lower_control_flow=lower)
        feeds = [{tensor.op.name: value for tensor, value in zip(frozen.inputs, step)} for step in steps]
        write_case(f"variants_{name}_{kind}", frozen.graph, [], frozen.outputs, feeds, 1e-5)


three = [(floats(6), splits(0, 2, 2, 6)), (floats(9), splits(0, 1, 6, 9))]
record("reduced", reduced, [[None], [None]], three + [(floats(4), splits(0, 4))])
record("mapped", mapped, [[None], [None]], three + [(floats(4), splits(0, 4))])
record("selected", selected, [[None], [4], [3]], [(*step, floats(3)) for step in three])
record("deep", deep, [[None], [3], [None]], [(floats(7), splits(0, 2, 3), splits(0, 3, 3, 7)), (floats(5), splits(0, 0, 2), splits(0, 1, 5))])
record("wide", wide, [[None, 3], [4]], [(floats(6, 3), splits(0, 2, 2, 6))])
record("even", even, [[4, 3]], [(floats(4, 3),)])
record("gradient_squares", gradient(squares), [[None], [4]], three)
record("gradient_cubes", gradient(cubes), [[None], [4]], three)
record("joined", joined, [[None], [4]], three)
