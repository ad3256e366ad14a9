"""record_further.py FOLDER: records operations of TensorFlow (2.21 for those that are stored): decoding by beams."""

import numpy as np
import tensorflow as tf
from recording import write_values

raw = tf.raw_ops
rng = np.random.default_rng(0)
f32, f64, i32, i64 = tf.float32, tf.float64, tf.int32, tf.int64


def normal(*shape):
    return rng.normal(size=shape).astype(np.float32)


def beams(x, length):
    """Beams that are wider and narrower than the number of paths, with and without repetitions."""
    results = []
    for width, paths, merge in ((1, 1, False), (4, 2, True), (30, 3, False), (10, 3, True)):
        for scores in (x, tf.cast(x, f64) * 2.0):
            decoded = raw.CTCBeamSearchDecoder(inputs=scores, sequence_length=length, beam_width=width, top_paths=paths,
                                               merge_repeated=merge)
            results += [*decoded.decoded_indices, *decoded.decoded_values, *decoded.decoded_shape, decoded.log_probability]
    return results


write_values("beams", beams, {"x": (f32, (12, None, 5)), "length": (i32, [None])},
             [{"x": normal(12, len(length), 5) * scale, "length": np.array(length, np.int32)}
              for scale, length in ((1, [12, 9, 3, 1]), (3, [12, 12, 12, 12]), (0.3, [5, 6, 7]), (2, [2, 11, 4, 12]))])
