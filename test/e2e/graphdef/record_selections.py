"""record_selections.py FOLDER: records operations of TensorFlow (2.21 for those that are stored) whose results have sizes
that depend on data, and others on matrices and batches."""

import numpy as np
import tensorflow as tf
from recording import write_values

raw = tf.raw_ops
rng = np.random.default_rng(0)


def boxes(count):
    corner, size = rng.random((count, 2)), rng.random((count, 2)) * 0.5
    return np.concatenate([corner, corner + size], 1)[:, [2, 1, 0, 3]].astype(np.float32)


def selections(x, ids, box, score):
    where = raw.Where(condition=x > 0.5)
    unique = raw.UniqueWithCounts(x=ids, out_idx=tf.int64)
    plain = raw.Unique(x=ids, out_idx=tf.int32)
    third = raw.NonMaxSuppressionV3(boxes=box, scores=score, max_output_size=5, iou_threshold=0.3, score_threshold=0.2)
    fourth = raw.NonMaxSuppressionV4(boxes=box, scores=score, max_output_size=6, iou_threshold=0.5,
                                     score_threshold=0.4, pad_to_max_output_size=True)
    fifth = raw.NonMaxSuppressionV5(boxes=box, scores=score, max_output_size=4, iou_threshold=0.4, score_threshold=0.0,
                                    soft_nms_sigma=0.0)
    kept = tf.boolean_mask(x, x[:, 0] > 0.3)
    return [where, *unique, *plain, third, *fourth, *fifth, kept, tf.reduce_sum(kept, 0), tf.shape(kept)]


def matrices(a, ids, wide, t):
    counts = raw.DenseBincount(input=ids, size=5, weights=tf.constant([], tf.float32), binary_output=False)
    weighted = raw.DenseBincount(input=ids, size=3, weights=wide[0, :, 0], binary_output=False)
    rows = raw.DenseBincount(input=tf.stack([ids, ids + 1]), size=4, weights=tf.constant([], tf.float32),
                             binary_output=True)
    batched = tf.gather(t, tf.constant([[0, 2], [1, 1]]), axis=2, batch_dims=1)
    inner = tf.gather(t, tf.constant([[[0, 3], [2, 1]], [[1, 1], [0, 0]]]), axis=3, batch_dims=1)
    return [tf.linalg.det(a), tf.linalg.inv(a), raw.MatrixInverse(input=a, adjoint=True), tf.linalg.solve(a, wide),
            raw.MatrixSolve(matrix=a, rhs=wide, adjoint=True), counts, weighted, rows, batched, inner,
            *tf.raw_ops.IdentityN(input=[ids, a])]


def moving_slices(x, i, v):
    """Gradients and updates of slices that begin where a feed says."""
    loss = (tf.reduce_sum(x[i] ** 2) + x[i, 1] + tf.reduce_sum(x[i:i + 2] ** 3) + tf.reduce_sum(x[i:] ** 2) +
            tf.reduce_sum(x[:i, 1:] ** 3) + tf.reduce_sum(x[-1 - i] * v))
    update = raw.TensorStridedSliceUpdate
    return [loss, *tf.gradients(loss, x), update(input=x, begin=[i], end=[i + 1], strides=[1], value=v, shrink_axis_mask=1),
            update(input=x, begin=[i, 0], end=[i + 2, 2], strides=[1, 1], value=v[None, :2])]


def bands(x, three, two):
    results = []
    for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
        for low, high in [(-1, 1), (0, 2), (-3, -1), (1, 3)]:
            results.append(raw.MatrixDiagPartV3(input=x, k=[low, high], padding_value=9.0, align=align))
            results.append(raw.MatrixSetDiagV3(input=x, diagonal=results[-1] * 2.0, k=[low, high], align=align))
        results.append(raw.MatrixDiagV3(diagonal=three, k=[-1, 1], num_rows=-1, num_cols=-1, padding_value=7.0, align=align))
        results.append(raw.MatrixDiagV3(diagonal=two, k=[1, 2], num_rows=4, num_cols=-1, padding_value=0.0, align=align))
    results.append(raw.MatrixDiagV3(diagonal=two, k=-2, num_rows=-1, num_cols=4, padding_value=1.0))
    return results


f32, i32 = tf.float32, tf.int32
write_values("bands", bands, {"x": (f32, [2, 4, 5]), "three": (f32, [2, 3, 4]), "two": (f32, [2, 3])},
             [{"x": rng.normal(size=(2, 4, 5)).astype(np.float32), "three": rng.normal(size=(2, 3, 4)).astype(np.float32),
               "two": rng.normal(size=(2, 3)).astype(np.float32)}])
write_values("selections", selections, {"x": (f32, [6, 3]), "ids": (i32, [9]), "box": (f32, [12, 4]), "score": (f32, [12])},
             [{"x": rng.random((6, 3)).astype(np.float32) * scale, "ids": rng.integers(0, 5, 9).astype(np.int32),
               "box": boxes(12), "score": rng.random(12).astype(np.float32)} for scale in (1.0, 0.6, 0.0)])
write_values("matrices", matrices, {"a": (f32, [2, 4, 4]), "ids": (i32, [4]), "wide": (f32, [2, 4, 3]),
                                    "t": (f32, [2, 3, 4, 5])},
             [{"a": rng.normal(size=(2, 4, 4)).astype(np.float32), "ids": np.array([1, 0, 1, 2], np.int32),
               "wide": rng.normal(size=(2, 4, 3)).astype(np.float32), "t": rng.normal(size=(2, 3, 4, 5)).astype(np.float32)}])
write_values("moving_slices", moving_slices, {"x": (f32, [4, 3]), "i": (i32, []), "v": (f32, [3])},
             [{"x": rng.normal(size=(4, 3)).astype(np.float32), "i": np.int32(i), "v": rng.normal(size=3).astype(np.float32)}
              for i in range(3)])
