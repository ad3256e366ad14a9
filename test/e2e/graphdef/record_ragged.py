"""record_ragged.py FOLDER: records operations on ragged tensors in TensorFlow (2.21 for those that are stored), whose rows
have lengths that are fed."""

import numpy as np
import tensorflow as tf
from recording import write_values

rng = np.random.default_rng(0)


def rows(values, lengths):
    ragged = tf.RaggedTensor.from_row_lengths(values, lengths)
    reductions = [reduce(ragged, axis=1) for reduce in (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_prod)]
    parts = [ragged[:, :2], ragged[1:], ragged[:, 1:], tf.ragged.boolean_mask(ragged, ragged > 0.0)]
    return [*reductions, ragged.value_rowids(), ragged.bounding_shape(), tf.reduce_sum(ragged, axis=0), tf.reduce_sum(ragged),
            *[each for part in parts for each in (part.flat_values, part.row_splits)]]


def elementwise(values, lengths):
    """Copies and selections of ragged tensors, arithmetic with dense ones, and lookups in a table."""
    ragged = tf.RaggedTensor.from_row_lengths(values, lengths)
    powers = tf.exp(ragged - tf.reduce_max(ragged, 1, keepdims=True))
    parts = [tf.tile(ragged, [2, 1]), tf.tile(ragged, [1, 3]), tf.where(ragged > 0.0, ragged, -ragged),
             powers / tf.reduce_sum(powers, 1, keepdims=True), ragged + tf.constant([[1.0], [2.0], [3.0], [4.0]])]
    ids = tf.RaggedTensor.from_row_lengths(tf.cast(3 * tf.abs(values), tf.int64), lengths).to_sparse()
    weights = tf.RaggedTensor.from_row_lengths(tf.abs(values) + 0.1, lengths).to_sparse()
    table = tf.reshape(tf.range(40.0), [20, 2])
    return [*[each for part in parts for each in (part.flat_values, part.row_splits)],
            *[tf.nn.embedding_lookup_sparse(table, ids, None, combiner=name) for name in ("sum", "sqrtn")],
            *[tf.nn.safe_embedding_lookup_sparse(table, ids, weights, combiner=name) for name in ("sum", "mean", "sqrtn")]]


for name, build in (("ragged_rows", rows), ("ragged_elements", elementwise)):
    write_values(name, build, {"values": (tf.float32, [10]), "lengths": (tf.int64, [4])},
                 [{"values": rng.normal(size=10).astype(np.float32), "lengths": np.array(lengths, np.int64)}
                  for lengths in ([3, 0, 5, 2], [1, 4, 4, 1])])
