"""record_more.py FOLDER: records operations of TensorFlow (2.21 for those that are stored) on sound, sparse sequences, boxes
and bands, second gradients of pooling, and segments and embeddings of numbers that calls compute."""

import numpy as np
import tensorflow as tf
from recording import write_values

raw = tf.raw_ops
rng = np.random.default_rng(0)
f32, i64 = tf.float32, tf.int64


def normal(*shape):
    return rng.normal(size=shape).astype(np.float32)


def sound(x, rate):
    loud = raw.AudioSpectrogram(input=x, window_size=100, stride=30, magnitude_squared=True)
    return [raw.AudioSpectrogram(input=x, window_size=64, stride=16), loud,
            raw.Mfcc(spectrogram=loud, sample_rate=rate),
            raw.Mfcc(spectrogram=loud, sample_rate=16000, upper_frequency_limit=7000.0, lower_frequency_limit=300.0,
                     filterbank_channel_count=9, dct_coefficient_count=9)]


def rows_of(x):
    return tf.sparse.from_dense(x)


def sequences(x, i, j):
    """Sparse tensors by element, their gradients, and distances of sequences."""
    positive, negative = rows_of(tf.nn.relu(x)), rows_of(tf.nn.relu(-x * tf.abs(x[:, ::-1])))
    results = []
    for join in (tf.sparse.maximum, tf.sparse.minimum):
        results += [tf.sparse.to_dense(join(positive, negative)), join(positive, positive).values]
    added = tf.sparse.to_dense(tf.sparse.add(positive, rows_of(x)), validate_indices=False)
    cut = tf.sparse.to_dense(tf.sparse.slice(positive, [1, 1], [2, 3]))
    first, second, third = (rows_of(k) for k in (i, j, j[:, :2]))
    return results + [tf.gradients(added**2, x)[0], tf.gradients(cut**2, x)[0],
                      *[tf.edit_distance(a, b, normalize=normalize)
                        for a, b in ((first, second), (second, first), (third, first), (first, third))
                        for normalize in (True, False)]]


def boxes(x, at, shared):
    """Edges of boxes, boxes by what they share, and the second gradients of poolings."""
    colors = tf.constant([[0.9, 0.1, 0.3], [0.2, 0.5, 0.8]])
    results = [raw.DrawBoundingBoxesV2(images=x, boxes=at, colors=colors), raw.DrawBoundingBoxes(images=x, boxes=at),
               raw.DrawBoundingBoxes(images=x[..., :1], boxes=at)]
    results += [tf.image.non_max_suppression_overlaps(shared, x[0, :, 0, 0], most, 0.6, least)
                for most, least in ((4, -9.0), (20, 0.1), (0, 0.0))]
    for padding in ("SAME", "VALID"):
        y = tf.nn.max_pool2d(x, 3, 2, padding)
        slope = tf.gradients(y**3, x)[0]
        results += [tf.gradients(slope**2, x)[0],
                    raw.MaxPoolGradGradV2(orig_input=x, orig_output=y, grad=x * 2, ksize=[1, 3, 3, 1],
                                          strides=[1, 2, 2, 1], padding=padding)]
    return results


def bands(x, bands):
    solve = tf.linalg.banded_triangular_solve
    values = tf.math.approx_max_k(x, 3)
    return [solve(bands, x), solve(bands, x, lower=False), solve(bands, x, adjoint=True),
            solve(bands, x, lower=False, adjoint=True), *values, tf.math.invert_permutation(tf.argsort(x[0, :, 0]))]


def segments(x, numbers):
    """Segments of equal numbers, and their gradients."""
    _, ids = tf.unique(numbers)
    results = []
    for name in ("sum", "mean", "prod", "max", "min"):
        y = getattr(tf.math, f"segment_{name}")(x, ids)
        results += [y, tf.gradients(y**2, x)[0]]
    for name in ("sum", "mean", "sqrt_n"):
        for is_sparse in (False, True):
            y = getattr(tf.sparse, f"segment_{name}")(x, [0, 1, 3, 3, 5, 2], ids, sparse_gradient=is_sparse)
            results += [y, tf.convert_to_tensor(tf.gradients(y**2, x)[0])]
    return results


def embeddings(table, numbers, weights):
    """Sums of the rows of a table that sparse numbers, of which some rows are empty, ask for, and their gradients."""
    ids = rows_of(numbers)
    weights = tf.SparseTensor(ids.indices, tf.gather_nd(weights, ids.indices), ids.dense_shape)
    results = []
    for combiner in ("sum", "mean", "sqrtn"):
        lookup, safe = tf.nn.embedding_lookup_sparse, tf.nn.safe_embedding_lookup_sparse
        for y in (lookup(table, ids, None, combiner=combiner), lookup(table, ids, weights, combiner=combiner),
                  safe(table, ids, combiner=combiner), safe(table, ids, combiner=combiner, default_id=3)):
            results += [y, tf.convert_to_tensor(tf.gradients(y**2, table)[0])]
    return results


x = normal(400, 2)
write_values("sound", sound, {"x": (f32, x.shape), "rate": (tf.int32, [])}, [{"x": x, "rate": np.int32(8000)}])
x, i, j = normal(4, 5), rng.integers(0, 4, (4, 5)), rng.integers(0, 4, (4, 6))
i[2] = 0
write_values("sparse_sequences", sequences, {"x": (f32, x.shape), "i": (i64, i.shape), "j": (i64, j.shape)},
             [{"x": x, "i": i, "j": j}])
x, shared = normal(2, 9, 8, 3), rng.uniform(size=(9, 9)).astype(np.float32)
at = np.array([[[0.1, 0.2, 0.7, 0.6], [-0.2, 0.3, 0.5, 1.4], [0.6, 0.1, 0.2, 0.9]],
               [[0, 0, 1, 1], [0.3, 0.3, 0.3, 0.3], [1.2, 0.1, 1.5, 0.9]]], np.float32)
write_values("boxes", boxes, {"x": (f32, x.shape), "at": (f32, at.shape), "shared": (f32, shared.shape)},
             [{"x": x, "at": at, "shared": shared}])
x, d = normal(2, 4, 4), normal(2, 3, 4) + 4
write_values("triangular_bands", bands, {"x": (f32, x.shape), "bands": (f32, d.shape)},
             [{"x": x, "bands": d}])
x = normal(6, 3)
x[1, 0] = 0
write_values("segment_numbers", segments, {"x": (f32, x.shape), "numbers": (tf.int32, [6])},
             [{"x": x, "numbers": np.array(numbers, np.int32)}
              for numbers in ([0, 0, 1, 1, 5, 5], [7, 7, 7, 7, 7, 7], [1, 2, 3, 4, 5, 6])])
table, w = normal(6, 2), np.abs(normal(4, 3)) + 0.1
write_values("embeddings", embeddings, {"table": (f32, table.shape), "numbers": (i64, [4, 3]), "weights": (f32, w.shape)},
             [{"table": table, "numbers": np.array(numbers), "weights": w}
              for numbers in ([[1, 2, 0], [3, 0, 0], [4, 5, 1], [0, 0, 0]], [[1, 2, 0], [0, 0, 0], [0, 0, 4], [0, 0, 5]],
                              [[0, 0, 0], [0, 0, 5], [0, 0, 0], [0, 0, 0]])])
