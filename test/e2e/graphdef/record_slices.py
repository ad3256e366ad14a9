"""record_slices.py FOLDER: records gradients of slices that begin where calls say in TensorFlow (2.21 for those that are stored), each
as it is with functions, and with the control flow of TensorFlow 1."""

import numpy as np
import tensorflow as tf
from recording import write_case
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

rng = np.random.default_rng(0)
floats = lambda *shape: rng.normal(size=shape).astype(np.float32)


def single(x, i, j):
    """Along one axis and along all, with sizes of the shape and without elements."""
    row, block = tf.slice(x, [i, 0], [1, -1]), tf.slice(x, tf.stack([i, j]), [2, 2])
    rest, none = tf.slice(x, [0, j], [tf.shape(x)[0], 2]), tf.slice(x, [i, j], [0, 1])
    return tf.reduce_sum(row ** 2) + tf.reduce_sum(tf.sin(block) * x[:2, :2]) + tf.reduce_sum(rest ** 3) + tf.reduce_sum(none)


def in_loop(x, i, j):
    """Each iteration begins elsewhere."""
    def body(t, h):
        return t + 1, tf.tanh(h + tf.slice(x, [t, 0], [1, 2]) * tf.slice(x, tf.stack([i, tf.minimum(t, 1)]), [1, 2]))

    return tf.reduce_sum(tf.while_loop(lambda t, h: t < 3, body, [0, x[:1, 1:]])[1] ** 2)


def in_branch(x, i, j):
    return tf.reduce_sum(tf.cond(i > j, lambda: tf.slice(x, [i, 0], [2, 3]) ** 2, lambda: tf.slice(x, [j, 0], [2, 3]) * x[i:i + 2]))


def in_branches(x, i, j):
    """Both branches keep values of one type for their gradients."""
    return tf.reduce_sum(tf.cond(i > j, lambda: x[:2] ** 3, lambda: x[:2] * x[1:3]))


def masked(x, i, j):
    """Beside new axes, an ellipsis, and axes of which the bounds are known; and an update of such a slice."""
    def body(t, h):
        return t + 1, tf.tanh(h + x[..., t, :])

    y = tf.raw_ops.TensorStridedSliceUpdate(
        input=x, begin=tf.stack([i, 0, 0]), end=tf.stack([i + 1, 0, 0]), strides=[1, -2, 1], value=x[j, 1:] ** 2,
        begin_mask=6, end_mask=6, shrink_axis_mask=1)
    rows, columns = x[i, ..., tf.newaxis, ::-1] * x[tf.newaxis, j, :, :], x[::2, ..., j]
    inside = x[i, :-1, 1] * x[1:, j, tf.newaxis, 0]
    parts = [rows, columns, inside, x[:, j:j + 1, tf.newaxis] ** 2, tf.while_loop(lambda t, h: t < 3, body, [0, x[:, 0]])[1], y]
    return tf.add_n([tf.reduce_sum(part ** 3) for part in parts])


def attention(x, i, j):
    """Each iteration attends to the rows so far, of which it caches another one."""
    def body(t, cache, written):
        cache = tf.tensor_scatter_nd_update(cache, [[t]], [x[t] * 2.0])
        weights = tf.nn.softmax(tf.linalg.matvec(cache[:t + 1], x[t]))
        return t + 1, cache, written.write(t, tf.linalg.matvec(x[:t + 1], weights, transpose_a=True))

    rows = tf.TensorArray(tf.float32, 4, element_shape=[3])
    return tf.while_loop(lambda t, *_: t < 4, body, (0, tf.zeros([4, 3]), rows))[2].stack()


def gradients(build, second=False):
    def backward(x, i, j):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = build(x, i, j)
            slope = tape.gradient(loss, x)
            total = tf.reduce_sum(slope ** 2)
        return [loss, slope] + ([outer.gradient(total, x)] if second else [])

    return backward


def record(name, build, shape, steps, compressed=False):
    arguments = [tf.TensorSpec(shape, tf.float32, name="x"), tf.TensorSpec([], tf.int32, name="i"), tf.TensorSpec([], tf.int32, name="j")]
    function = tf.function(lambda *x: [tf.identity(y) for y in tf.nest.flatten(build(*x))], input_signature=arguments, autograph=False)
    for kind, lower in [("functions", False), ("lowered", True)]:
        frozen = convert_variables_to_constants_v2(function.get_concrete_function(), lower_control_flow=lower)
        feeds = [{tensor.op.name: value for tensor, value in zip(frozen.inputs, step)} for step in steps]
        write_case(f"slices_{name}_{kind}", frozen.graph, [], frozen.outputs, feeds, 1e-5, compressed=compressed)


places = [(np.int32(i), np.int32(j)) for i, j in [(0, 0), (2, 1), (1, 0), (0, 1)]]
fixed, opened = [(floats(4, 3), *at) for at in places], [(floats(4 + i, 3), *at) for i, at in enumerate(places)]
record("single", gradients(single, second=True), [4, 3], fixed)
record("open", gradients(single), [None, 3], opened)
record("in_loop", gradients(in_loop), [4, 3], fixed)
record("in_loop_open", gradients(in_loop), [None, 3], opened)
record("in_branch", gradients(in_branch), [4, 3], fixed)
record("in_branches", gradients(in_branches), [4, 3], fixed)
record("masked", gradients(masked, second=True), [4, 3, 2], [(floats(4, 3, 2), *at) for at in places if at[0] < 2], compressed=True)
record("in_attention", lambda *inputs: [attention(*inputs)], [4, 3], fixed[:2], compressed=True)
