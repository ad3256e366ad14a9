"""record_sparse.py FOLDER: records operations of TensorFlow (2.21 for those that are stored) on sparse and ragged tensors, sets,
partitions, boxes of several classes, and others that came with them: decoding, quantisation, factors of matrices, complex
numbers."""

import numpy as np
import tensorflow as tf
from recording import write_values

raw = tf.raw_ops
rng = np.random.default_rng(0)
f32, i32, i64, f64 = tf.float32, tf.int32, tf.int64, tf.float64


def normal(*shape):
    return rng.normal(size=shape).astype(np.float32)


def sparse(at, values, dense, table, words):
    shape = tf.constant([6, 4], i64)
    filled = raw.SparseFillEmptyRows(indices=at, values=values, dense_shape=shape, default_value=7.0)
    reshaped = raw.SparseReshape(input_indices=at, input_shape=shape, new_shape=tf.constant([3, -1, 2], i64))
    ordered = raw.SparseReorder(input_indices=at[::-1], input_values=values, input_shape=shape)
    product = [raw.SparseTensorDenseMatMul(a_indices=at, a_values=values, a_shape=shape, b=dense, adjoint_b=turned)
               for turned in (False,)]
    other = raw.SparseTensorDenseMatMul(a_indices=at, a_values=values, a_shape=shape, b=table, adjoint_a=True)
    found = tf.nn.embedding_lookup_sparse(table, tf.SparseTensor(at, words, [6, 4]), None, combiner="sum")
    return [*filled, *reshaped, *ordered, *product, other, found]


def ragged(values, splits, pairs, rows, ids):
    plain = tf.RaggedTensor.from_row_splits(values, splits, validate=False)
    nested = tf.RaggedTensor.from_nested_row_splits(values, [tf.constant([0, 2, 2, 4], i64), tf.cast(splits, i64)], validate=False)
    by_row = tf.RaggedTensor.from_value_rowids(pairs, rows, nrows=5, validate=False)
    chosen, deep = tf.gather(plain, ids), tf.gather(nested, tf.constant([2, 0, 2]))
    square = tf.gather(plain, tf.reshape(ids, [2, 2]))
    as_sparse = [plain.to_sparse(), nested.to_sparse()]
    parts = raw.RaggedRange(starts=tf.constant([0, 1, 5, 8]), limits=tf.constant([3, 1, 8, 0]), deltas=tf.constant([1, 1, 2, -3]))
    floats = raw.RaggedRange(starts=tf.constant([0, 1.5, 5]), limits=tf.constant([3, 1, 8.2]), deltas=tf.constant(0.7))
    return [plain.to_tensor(default_value=5.0), plain.to_tensor(shape=[5, 2]), plain.to_tensor(shape=[2, None]), nested.to_tensor(),
            by_row.to_tensor(), by_row.to_tensor(shape=[None, 4, 2]), chosen.values, chosen.row_splits, deep.flat_values,
            *deep.nested_row_splits, square.flat_values, *square.nested_row_splits, *parts, *floats,
            *[part for each in as_sparse for part in (each.indices, each.values, each.dense_shape)]]


def sets(a, b, logits, length, boxes, per_class, scores):
    results = [tf.sparse.to_dense(operation(a, b)) for operation in (tf.sets.union, tf.sets.intersection, tf.sets.difference)]
    other = tf.sets.difference(a, b, aminusb=False)
    for merged in (True, False):
        decoded, score = tf.nn.ctc_greedy_decoder(logits, length, merge_repeated=merged)
        results += [tf.sparse.to_dense(decoded[0]), decoded[0].indices, decoded[0].dense_shape, score]
    for each, most, total, padded, clip in [(boxes, 3, 9, False, False), (per_class, 4, 6, True, True), (boxes, 20, 70, True, True)]:
        results += tf.image.combined_non_max_suppression(each, scores, most, total, 0.4, 0.2, pad_per_class=padded, clip_boxes=clip)
    return [*results, other.indices, other.values, other.dense_shape]


def partitions(x, which, first, second, a, b):
    parts = tf.dynamic_partition(x, which, 3)
    known = tf.dynamic_stitch([tf.constant([3, 0]), tf.constant([[1], [2]])], [a, b[:, None][:2]])
    back = tf.dynamic_stitch(tf.dynamic_partition(tf.range(7), which, 3), [parts[0] * 2.0, parts[1], -parts[2]])
    return [*parts, tf.dynamic_stitch([first, second], [a, b]), known, back]


def factors(x, table, square, half, low):
    quantised = [tf.quantization.quantize_and_dequantize_v2(x, -2.0, 1.5, range_given=True, narrow_range=narrow, round_mode=mode)
                 for narrow in (False, True) for mode in ("HALF_TO_EVEN", "HALF_UP")]
    quantised.append(tf.quantization.quantize_and_dequantize_v2(x, 0.0, 2.0, signed_input=False, range_given=True, num_bits=4))
    quantised.append(tf.quantization.quantize_and_dequantize_v2(x, 0.0, 0.0, range_given=False))
    quantised.append(raw.QuantizeAndDequantizeV4(input=x, input_min=[-1.0, -2.0, 0.0], input_max=[1.0, 1.0, 3.0], axis=1))
    quantised.append(raw.QuantizeAndDequantizeV3(input=x, input_min=-1.0, input_max=1.0, num_bits=tf.constant(6)))
    symmetric = tf.matmul(square, square, transpose_b=True) + tf.eye(4)
    searched = [raw.LowerBound(sorted_inputs=table, values=low), raw.UpperBound(sorted_inputs=table, values=low)]
    places = tf.constant([[1], [3]])
    return [*quantised, *tf.linalg.qr(square), *tf.linalg.qr(half, full_matrices=True), *tf.linalg.qr(tf.transpose(half, [0, 2, 1])),
            tf.linalg.cholesky(symmetric), tf.linalg.triangular_solve(symmetric, square),
            tf.linalg.triangular_solve(symmetric, square, lower=False, adjoint=True), *tf.linalg.slogdet(square), *searched,
            tf.unravel_index(tf.constant([3, 7, 11]), [4, 3]), raw.NthElement(input=x, n=1), raw.NthElement(input=x, n=0, reverse=True),
            tf.tensor_scatter_nd_max(low[0], places, table[0, :2]), tf.tensor_scatter_nd_min(low[0], places, table[0, :2])]


def complex_numbers(x, y, wave, wide):
    z, w = tf.complex(x, y), tf.complex(y, x + 1.0)
    numbers = [z * w, z / w, tf.sqrt(z), tf.exp(z), tf.math.log(w), tf.pow(z, w), tf.tanh(z), tf.cos(z), tf.sin(w), tf.linalg.adjoint(z),
               tf.matmul(z, w, adjoint_b=True), tf.reduce_mean(z, 1), tf.stack([z, w], -1), z + tf.constant(2 - 1j, tf.complex64),
               tf.signal.fft(z), tf.signal.ifft2d(z), tf.signal.fft3d(z), tf.signal.rfft(wave), tf.signal.rfft(wave, [13]),
               tf.signal.rfft2d(x, [5, 6]), tf.signal.stft(wave, 16, 8, 16), tf.signal.fft(tf.cast(wide, tf.complex128))]
    real = [tf.abs(z), tf.math.angle(w), tf.equal(z, w), tf.shape(z), tf.signal.irfft(z), tf.signal.irfft2d(z, [4, 5]),
            tf.signal.inverse_stft(tf.signal.stft(wave, 16, 8, 16), 16, 8, 16), tf.signal.dct(wave)]
    return [part(number) for number in numbers for part in (tf.math.real, tf.math.imag)] + real


write_values("sparse", sparse, {"at": (i64, [5, 2]), "values": (f32, [5]), "dense": (f32, [4, 3]), "table": (f32, [6, 2]), "words": (i64, [5])},
             [{"at": np.array(at, np.int64), "values": normal(5), "dense": normal(4, 3), "table": normal(6, 2),
               "words": rng.integers(0, 6, 5)} for at in ([[0, 1], [0, 3], [2, 0], [4, 1], [5, 3]],
                                                          [[0, 0], [1, 1], [2, 2], [3, 3], [4, 0]])])
write_values("ragged", ragged, {"values": (f32, [8]), "splits": (i32, [5]), "pairs": (f32, [6, 2]), "rows": (i32, [6]), "ids": (i32, [4])},
             [{"values": normal(8), "splits": np.array(splits, np.int32), "pairs": normal(6, 2), "rows": np.array(rows, np.int32),
               "ids": np.array(ids, np.int32)} for splits, rows, ids in (([0, 3, 3, 7, 8], [0, 0, 1, 3, 3, 3], [3, 0, 2, 0]),
                                                                         ([0, 0, 0, 8, 8], [4, 4, 4, 4, 4, 4], [2, 2, 1, 2]))])
box = rng.random((2, 10, 3, 4)).astype(np.float32)
box = np.concatenate([box[..., :2] * 1.2 - 0.2, box[..., :2] * 1.2 - 0.2 + box[..., 2:] * 0.6], -1)
write_values("sets", sets, {"a": (i32, [2, 4]), "b": (i32, [2, 5]), "logits": (f32, [7, 3, 4]), "length": (i32, [3]), "boxes": (f32, [2, 10, 1, 4]),
                            "per_class": (f32, [2, 10, 3, 4]), "scores": (f32, [2, 10, 3])},
             [{"a": rng.integers(0, 6, (2, 4)).astype(np.int32), "b": rng.integers(2, 9, (2, 5)).astype(np.int32), "logits": normal(7, 3, 4),
               "length": np.array(length, np.int32), "boxes": box[:, :, :1], "per_class": box,
               "scores": rng.random((2, 10, 3)).astype(np.float32)} for length in ([7, 4, 5], [1, 0, 7])])
write_values("partitions", partitions, {"x": (f32, [7, 2]), "which": (i32, [7]), "first": (i32, [2]), "second": (i32, [3]), "a": (f32, [2, 4]),
                                        "b": (f32, [3, 4])},
             [{"x": normal(7, 2), "which": np.array(which, np.int32), "first": np.array([4, 0], np.int32),
               "second": np.array([2, 1, 3], np.int32), "a": normal(2, 4), "b": normal(3, 4)}
              for which in ([0, 2, 1, 0, 0, 2, 1], [1, 1, 1, 1, 1, 1, 1])])
write_values("factors", factors, {"x": (f32, [4, 3]), "table": (f32, [2, 6]), "square": (f32, [2, 4, 4]), "half": (f32, [2, 5, 3]), "low": (f32, [2, 5])},
             [{"x": normal(4, 3), "table": np.sort(normal(2, 6)), "square": normal(2, 4, 4), "half": normal(2, 5, 3), "low": normal(2, 5)}])
write_values("complex", complex_numbers, {"x": (f32, [2, 3, 4]), "y": (f32, [2, 3, 4]), "wave": (f32, [2, 40]), "wide": (f64, [2, 6])},
             [{"x": normal(2, 3, 4), "y": normal(2, 3, 4), "wave": normal(2, 40), "wide": rng.normal(size=(2, 6))}])
write_values("fed_reals", lambda n, start, limit, step: [tf.eye(tf.cast(n * 2.0, i32)), tf.range(start, limit, step),
                                                         tf.zeros(tf.pad(tf.cast(n, i32)[None], [[1, 0]], constant_values=2))],
             {"n": (f32, []), "start": (f32, []), "limit": (f32, []), "step": (f32, [])},
             [{"n": np.float32(n), "start": np.float32(1.5), "limit": np.float32(limit), "step": np.float32(step)}
              for n, limit, step in ((2.0, 3.0, 0.1), (1.5, -2.0, -0.7))])
