"""record_open_sizes.py FOLDER: records losses and gradients of loops over tensors whose first axis has an open size, in
TensorFlow (2.21 for those that are stored). Gradients find the shapes of the forward pass in lists."""

import numpy as np
import tensorflow as tf
from recording import write_case
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

rng = np.random.default_rng(0)
W, U, B = (tf.constant(rng.normal(size=size), tf.float32) for size in [(3, 4), (4, 4), (4,)])


def cell(x, w, h):
    return tf.tanh(tf.matmul(x, w) + tf.matmul(h, U) + B)


def repeat(count, step, h):
    return tf.while_loop(lambda i, h: i < count, lambda i, h: (i + 1, step(h)), (0, h))[1]


def loop(x, w, h):
    return repeat(3, lambda h: cell(x, w, h), h)


def loop_in_loop(x, w, h):
    return repeat(3, lambda h: repeat(2, lambda h: cell(x, w, h), h), h)


def branch_in_loop(x, w, h):
    other = lambda h: h + 0.3 * tf.matmul(x, w) + B
    return repeat(4, lambda h: tf.cond(tf.reduce_sum(h) > 0.0, lambda: cell(x, w, h), lambda: other(h)), h)


def loop_in_branch(x, w, h):
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: loop(x, w, h), lambda: tf.square(h) - B)


def mapped(x, w, h):
    return tf.map_fn(lambda row: tf.tanh(tf.linalg.matvec(w, row, transpose_a=True)) + B, x)


def scanned(x, w, h):
    return tf.scan(lambda sum, row: 0.9 * sum + row, tf.matmul(x, w))


def record(name, build, steps):
    def losses(x):
        """The loss of all rows and that of some, and a gradient of each."""
        results = []
        for rows in [x, tf.boolean_mask(x, x[:, 0] > 0.0)]:
            with tf.GradientTape() as tape:
                tape.watch(W)
                loss = tf.reduce_sum(tf.square(build(rows, W, tf.zeros([tf.shape(rows)[0], 4]))))
            results += [tf.identity(loss), tf.identity(tape.gradient(loss, W))]
        return results

    function = tf.function(losses, input_signature=[tf.TensorSpec([None, 3], name="x")], autograph=False)
    frozen = convert_variables_to_constants_v2(function.get_concrete_function(), lower_control_flow=False)
    write_case(f"open_{name}", frozen.graph, [], frozen.outputs, [{frozen.inputs[0].op.name: x} for x in steps], 1e-4,
               compressed=True)


STEPS = [rng.normal(size=(rows, 3)).astype(np.float32) for rows in (5, 2)]
record("loop", loop, STEPS)
record("loop_in_loop", loop_in_loop, STEPS)
record("branch_in_loop", branch_in_loop, STEPS)
record("loop_in_branch", loop_in_branch, STEPS)
record("mapped", mapped, STEPS)
record("scanned", scanned, STEPS)
