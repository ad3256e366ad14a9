"""record_constants.py FOLDER: records shapes, axes, paddings and slices that a graph of TensorFlow (2.21) computes from
constants."""

import numpy as np
import tensorflow as tf
from recording import write_values

raw = tf.raw_ops


def numbers(*values, dtype=tf.int32):
    return tf.constant(values, dtype)


def shapes():
    """Shapes of 24 elements."""
    mask = tf.constant([False, False, True, False, True, False])
    unique = raw.UniqueWithCounts(x=tf.constant([6.0, 4.0, 6.0, 4.0, 6.0]), out_idx=tf.int32)
    boxes = tf.constant([[0.0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3]])
    kept = raw.NonMaxSuppressionV3(boxes=boxes, scores=tf.constant([0.9, 0.8, 0.7]), max_output_size=3, iou_threshold=0.5,
                                   score_threshold=0.1)
    wide = 2147483647
    return [tf.reshape(tf.where(mask), [-1]) + numbers(4, 0, dtype=tf.int64),
            tf.scatter_nd([[1], [0], [2], [0]], numbers(6, 2, 2, 0), [3]),
            tf.gather_nd(numbers(1, 4, 6), [[1], [2]]),
            tf.one_hot(1, 2, on_value=12, off_value=2, dtype=tf.int32),
            tf.reverse(numbers(4, 6), [0]), tf.sort(numbers(6, 4)), tf.argsort(numbers(9, 8, 3, 7))[:2] + [2, 3],
            tf.math.top_k(numbers(1, 6, 4, 0), 2).values,
            tf.stack([tf.argmax([0.5, 1.5, 9.0, 2.0], output_type=tf.int32) * 2, 6]),
            tf.math.cumprod(numbers(4, 1, 6))[1:] - [0, 18], tf.unique(numbers(6, 4, 6, 4)).y,
            tf.stack([tf.size(unique.y) * 2, unique.count[0] * 2]), tf.cast(unique.y, tf.int32),
            tf.reshape(tf.matmul([[1.0, 1.0], [2.0, 1.0]], [[2.0], [2.0]]), [-1]),
            tf.boolean_mask(numbers(4, 5, 6), [True, False, True]), tf.math.segment_sum(numbers(1, 3, 6), [0, 0, 1]),
            tf.math.unsorted_segment_max(numbers(1, 4, 6), [0, 0, 1], 2), tf.einsum("ij,j->i", tf.constant([[1, 1], [2, 1]]), numbers(2, 2)),
            tf.sort(numbers(wide, wide)) * 2 + [6, 8],  # as in 32 bits
            tf.sort(numbers(wide, wide, dtype=tf.int64)) * 2 - [2 * wide - 4, 2 * wide - 6],
            tf.tensor_scatter_nd_update(numbers(1, 6), [[0]], [4]), tf.roll(numbers(6, 4), 1, 0),
            tf.range(tf.sort(numbers(6, 4))[0], tf.sort(numbers(7, 1))[1], 2), tf.stack([tf.size(kept) * 2, 6]),
            tf.while_loop(lambda i, s: i < 3, lambda i, s: [i + 1, s * 2], [0, numbers(1, 3)])[1] - [4, 18],
            tf.map_fn(lambda v: v * 2, numbers(2, 3)), tf.scan(lambda a, v: a + v, numbers(4, 2)),
            tf.cond(tf.sort(numbers(2, 1))[0] < 2, lambda: numbers(4, 6), lambda: numbers(5, 6))]


def constants(x):
    results = [tf.reshape(x, tf.cast(shape, tf.int32)) for shape in shapes()]
    results += [tf.pad(x, tf.reshape(tf.sort(numbers(0, 1, 2, 0, 0, 1)), [3, 2])),
                x[:, tf.argmin(numbers(3, 1, 2)):tf.argmax(numbers(3, 1, 2, 9))],
                tf.reduce_sum(x, tf.where(tf.constant([True, False, True]))[:, 0]),
                tf.gather(x, [0], axis=tf.argmax(numbers(3, 1, 9))), tf.transpose(x, tf.argsort(numbers(3, 1, 2))),
                tf.one_hot(tf.argmax(x, -1), tf.reduce_max(tf.sort(numbers(3, 5)))),
                tf.zeros(tf.shape(tf.where(tf.constant([True, False, True])))) + x[0, 0, 0],
                tf.broadcast_to(x, tf.concat([tf.unique(numbers(2, 2)).y, tf.shape(x)], 0))]
    return results


write_values("constants", constants, {"x": (tf.float32, [2, 3, 4])},
             [{"x": np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)}])
