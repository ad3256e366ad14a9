"""record_ragged.py FOLDER: records reductions, slices and masks of ragged tensors in TensorFlow (2.21 for those that are
stored), whose rows have lengths that are fed."""

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


write_values("ragged_rows", rows, {"values": (tf.float32, [10]), "lengths": (tf.int64, [4])},
             [{"values": rng.normal(size=10).astype(np.float32), "lengths": np.array(lengths, np.int64)}
              for lengths in ([3, 0, 5, 2], [1, 4, 4, 1])])
