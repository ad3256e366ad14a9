"""record_growing.py FOLDER: records loops whose variables grow by concatenation in TensorFlow (2.21 for those that are stored),
each as it is with functions, and with the control flow of TensorFlow 1, into which TensorFlow 2 lowers it when it freezes."""

import numpy as np
import tensorflow as tf
from recording import v1, write_case
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

rng = np.random.default_rng(0)
TABLE = tf.constant(rng.normal(size=(7, 4)), tf.float32)
SCORES = tf.constant(rng.normal(size=(4, 7)), tf.float32)
INT, FLOAT = tf.int32, tf.float32


def attend(ids):
    x = tf.gather(TABLE, ids)
    weights = tf.nn.softmax(tf.matmul(x, x, transpose_b=True))
    return tf.matmul(tf.matmul(weights, x)[:, -1], SCORES)


def greedy(ids):
    """Decodes a fixed number of tokens; each attends to all before it."""
    def body(i, ids):
        following = tf.argmax(attend(ids), axis=-1, output_type=INT)
        return i + 1, tf.concat([ids, following[:, None]], axis=1)

    return tf.while_loop(lambda i, ids: i < 6, body, [0, ids], [tf.TensorShape([]), tf.TensorShape([2, None])])[1]


def until_end(ids):
    """Ends at a token, or where the tensor has a size; the condition reads both."""
    def body(ids, done):
        following = tf.math.floormod(ids[:, -1] * 3 + tf.shape(ids)[1], 7)
        return tf.concat([ids, following[:, None]], axis=1), tf.reduce_any(following == 5)

    ids, _ = tf.while_loop(lambda ids, done: (tf.shape(ids)[1] < 8) & ~done, body, [ids, tf.constant(False)],
                           [tf.TensorShape([2, None]), tf.TensorShape([])])
    return ids, tf.reduce_sum(ids, axis=1), tf.shape(ids)[1]


def collected(x):
    """Starts without rows, and adds two in each iteration, along the first axis."""
    def body(i, rows, last):
        last = tf.tanh(last * 1.5 - 0.2)
        return i + 1, tf.concat([rows, tf.stack([last, last * last])], 0), last

    i, rows, last = tf.while_loop(lambda i, rows, last: (i < 5) & (tf.reduce_sum(last) < 2.0), body,
                                  [0, tf.zeros([0, 3]), x],
                                  [tf.TensorShape([]), tf.TensorShape([None, 3]), tf.TensorShape([3])])
    return rows, tf.reduce_mean(rows, axis=0), i, last


def window(ids):
    """Reads the last elements, counts down, and keeps two variables of one size."""
    def body(left, ids, mask):
        following = tf.reduce_sum(ids[-2:]) % 11
        following = tf.where(mask[-1], following, ids[-1] + left)
        return left - 1, tf.concat([ids, following[None]], 0), tf.concat([mask, (following > 4)[None]], 0)

    _, ids, mask = tf.while_loop(lambda left, ids, mask: left > 0, body, [5, ids, ids > 4],
                                 [tf.TensorShape([]), tf.TensorShape([None]), tf.TensorShape([None])])
    return ids, mask, tf.reduce_sum(tf.cast(mask, INT) * ids)


def nested(x):
    """The inner loop grows a tensor that the outer one carries on."""
    def outer(i, rows):
        def inner(j, rows):
            return j + 1, tf.concat([rows, rows[-1:] * 0.5 + tf.cast(i + j, FLOAT)], 0)

        _, rows = tf.while_loop(lambda j, rows: j < 2, inner, [0, rows], [tf.TensorShape([]), tf.TensorShape([None, 3])])
        return i + 1, rows

    _, rows = tf.while_loop(lambda i, rows: i < 3, outer, [0, x[None]], [tf.TensorShape([]), tf.TensorShape([None, 3])])
    return rows


def chosen(ids):
    """Adds an element in some iterations."""
    def body(i, ids):
        return i + 1, tf.cond(ids[-1] % 3 == i % 3, lambda: tf.concat([ids, [i * 2]], 0), lambda: ids)

    return tf.while_loop(lambda i, ids: i < 7, body, [0, ids], [tf.TensorShape([]), tf.TensorShape([None])])[1]


def slices(x):
    """Slices of a fixed size at a variable of the loop."""
    def body(t, total):
        return t + 1, total + tf.reduce_sum(x[t:t + 2] * x[t + 1:t + 3], axis=0)

    return tf.while_loop(lambda t, total: t < 4, body, [0, tf.zeros([3])])[1]


def fed(x):
    """The prompt's size is fed; rows of it are appended."""
    def body(i, rows):
        return i + 1, tf.concat([rows, x[:1] + tf.reduce_max(rows, axis=0, keepdims=True)], 0)

    return tf.while_loop(lambda i, rows: i < 3, body, [0, x], [tf.TensorShape([]), tf.TensorShape([None, 3])])[1]


def filtered(x):
    """Rows become fewer."""
    def body(i, rows):
        return i + 1, tf.boolean_mask(rows, rows[:, 0] > tf.cast(i, FLOAT) * 0.3 - 1.0) * 0.9

    return tf.while_loop(lambda i, rows: i < 3, body, [0, x], [tf.TensorShape([]), tf.TensorShape([None, 3])])[1]


def doubled(x):
    """Each iteration makes it twice as long; the condition limits the size."""
    return tf.while_loop(lambda x: tf.shape(x)[0] < 20, lambda x: tf.concat([x, x * 0.5 + 1.0], 0), [x],
                         [tf.TensorShape([None])])[0]


def whole_shape(ids):
    """The condition compares all sizes."""
    return tf.while_loop(lambda ids: tf.reduce_all(tf.shape(ids) < 10), lambda ids: tf.concat([ids, [2]], 0), [ids],
                         [tf.TensorShape([None])])[0]


def record(name, build, shape, steps, tolerance=1e-5):
    dtype = tf.as_dtype(steps[0].dtype)

    def record_graph(kind, graph, feed, fetches):
        write_case(f"growing_{name}_{kind}", graph, [], fetches, [{feed: step} for step in steps], tolerance)

    function = tf.function(lambda x: [tf.identity(y) for y in tf.nest.flatten(build(x))],
                           input_signature=[tf.TensorSpec(shape, dtype, name="x")], autograph=False)
    for kind, lower in [("functions", False), ("lowered", True)]:
        frozen = convert_variables_to_constants_v2(function.get_concrete_function(), lower_control_flow=lower)
        record_graph(kind, frozen.graph, frozen.inputs[0].op.name, frozen.outputs)


ids = lambda *shape: rng.integers(0, 7, size=shape).astype(np.int32)
rows = lambda *shape: rng.normal(size=shape).astype(np.float32)
record("greedy", greedy, [2, 1], [ids(2, 1) for _ in range(2)])
record("until_end", until_end, [2, 1], [ids(2, 1) for _ in range(4)])
record("collected", collected, [3], [rows(3) for _ in range(2)] + [np.full(3, 3, np.float32)])
record("window", window, [3], [ids(3) for _ in range(2)])
record("nested", nested, [3], [rows(3)])
record("chosen", chosen, [1], [ids(1) for _ in range(3)])
record("slices", slices, [8, 3], [rows(8, 3)])
record("fed", fed, [None, 3], [rows(4, 3), rows(2, 3)])
record("filtered", filtered, [5, 3], [rows(5, 3)])
record("doubled", doubled, [3], [rows(3)])
record("whole_shape", whole_shape, [1], [ids(1)])
