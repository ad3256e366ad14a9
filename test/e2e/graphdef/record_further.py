"""record_further.py FOLDER: records operations of TensorFlow (2.21 for those that are stored): decoding by beams,
sets and parts of sparse tensors, and counts."""

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


def set_operations(a, b, i, j, weights):
    """Sets of which one or both are sparse, how many elements they have, and operations on the results."""
    first, second = tf.sparse.from_dense(a), tf.sparse.from_dense(b)
    first = tf.SparseTensor(first.indices, first.values, [2, 3, 4])
    second = tf.SparseTensor(second.indices, second.values, [2, 3, 5])
    results = []
    for x, y in ((a, b), (a, second), (first, b), (first, second)):
        for operation in (tf.sets.union, tf.sets.intersection, tf.sets.difference):
            found = operation(x, y)
            results += [found.indices, found.values, found.dense_shape]
        found = tf.sets.difference(x, y, aminusb=False)
        results += [tf.sparse.to_dense(found), tf.sets.size(found)]
    results += [tf.sets.size(first), tf.sets.size(second)]
    both = tf.sets.intersection(tf.sets.union(first, second), b)
    flat = tf.sparse.from_dense(a[0])
    flat = tf.SparseTensor(flat.indices, flat.values, [3, 4])
    lengths = tf.RaggedTensor.from_row_splits(i, tf.concat([[0], j, [7]], 0), validate=False)
    for minlength in (3, 9):
        for binary in (False, True):
            results += [raw.SparseBincount(indices=flat.indices, values=flat.values, dense_shape=[3, 4], size=minlength, weights=tf.constant([], f32),
                                           binary_output=binary),
                        raw.SparseBincount(indices=flat.indices[:, :1], values=flat.values, dense_shape=[3], size=minlength,
                                           weights=tf.constant([], i64), binary_output=binary),
                        raw.RaggedBincount(splits=lengths.row_splits, values=i, size=minlength, weights=tf.constant([], f32), binary_output=binary)]
    return results + [both.indices, both.values, both.dense_shape,
                      raw.RaggedBincount(splits=lengths.row_splits, values=i, size=5, weights=weights, binary_output=False)]


def sparse_parts(x):
    """Parts of sparse tensors, and sums and extremes of them that are sparse."""
    rows = tf.sparse.from_dense(tf.nn.relu(x))
    rows = tf.SparseTensor(rows.indices, rows.values, [4, 5, 3])
    results = []
    for axis, number in ((0, 2), (1, 2), (1, 3), (2, 2), (-1, 1)):
        for part in tf.sparse.split(rows, number, axis):
            results += [part.indices, part.values, part.dense_shape]
    for axes in ([0], [1, 2], [-1], [0, 2], [0, 1, 2]):
        for reduce in (raw.SparseReduceSumSparse, raw.SparseReduceMaxSparse):
            results += reduce(input_indices=rows.indices, input_values=rows.values, input_shape=rows.dense_shape, reduction_axes=axes)
    results += raw.SparseReduceSumSparse(input_indices=rows.indices, input_values=rows.values, input_shape=rows.dense_shape, reduction_axes=[1], keep_dims=True)
    joined = tf.sparse.concat(1, tf.sparse.split(rows, 3, 1))
    return results + [tf.sparse.to_dense(joined), joined.values]


def distinct(x, y, z):
    """Distinct slices of tensors."""
    results = []
    for tensor, axis in ((x, 0), (x, 1), (y, 0), (y, 1), (y, 2), (z, 0), (z, -1), (tf.cast(x, tf.bool), 0), (x[:, 0], 0), (x[:, :0], 0), (x[:0], 0)):
        results += [*raw.UniqueV2(x=tensor, axis=[axis], out_idx=i64), *raw.UniqueWithCountsV2(x=tensor, axis=[axis])]
    return results


def functions(x, large):
    """Bessel functions of several kinds and integrals, and their gradients."""
    positive, results = tf.abs(x), []
    one, zero = tf.ones_like(x), tf.zeros_like(x)
    for function in (raw.BesselJ0, raw.BesselJ1, raw.BesselY0, raw.BesselY1, raw.BesselK0, raw.BesselK0e, raw.BesselK1,
                     raw.BesselK1e, raw.Dawsn, raw.Expint, raw.FresnelCos, raw.FresnelSin):
        signed = function in (raw.BesselJ0, raw.BesselJ1, raw.Dawsn, raw.FresnelCos, raw.FresnelSin)
        y = function(x=x if signed else positive)
        results += [y, tf.gradients(y, x)[0]]
        if function is not raw.BesselY1:  # NaN in single precision
            results.append(function(x=zero))
        if function is not raw.Expint:
            results.append(function(x=large))
    return results + [raw.Expint(x=-one), raw.Expint(x=tf.minimum(large, 60)), raw.BesselY0(x=-one), raw.BesselK1(x=-one),
                      tf.math.lgamma(1 + x * 1e-3), tf.math.lgamma(2 + x * 1e-5), tf.math.lgamma(x), raw.Spence(x=large)]


def parameters(alpha, rate):
    """Stateless random numbers whose distributions have parameters, and gradients of samples."""
    seed, results = tf.constant([3, 7]), []
    key, counter = raw.StatelessRandomGetKeyCounter(seed=seed)
    for shape in ([2, 5, 8], [8]):
        results += [raw.StatelessRandomGammaV2(shape=shape, seed=seed, alpha=alpha),
                    raw.StatelessRandomGammaV3(shape=shape, key=key, counter=counter, alg=1, alpha=tf.cast(alpha, f64))]
        for dtype in (f32, f64, i64):
            results.append(raw.StatelessRandomPoisson(shape=shape, seed=seed + 1, lam=rate, dtype=dtype))
    wide, sample = tf.cast(alpha[1:], f64), tf.cast(results[0][0][:, 1:], f64)
    return results + [raw.RandomGammaGrad(alpha=wide + 0.0 * sample, sample=sample),
                      tf.random.stateless_gamma([3, 8], seed, alpha, rate + 1.0), tf.random.stateless_poisson([4, 8], seed, rate, f32)]


def numbers(x, wave, even, odd):
    """Positions of extremes among NaN, angles of real bins, and factors of matrices without full rank."""
    results = [find(value, axis) for value in (x, tf.cast(x, f64), x * np.nan, x[:1], x[:, :2])
               for find in (tf.argmax, tf.argmin) for axis in (0, 1)]
    for length in (None, [9], [6]):
        bins = tf.signal.rfft(wave, length)
        results += [tf.math.angle(bins), tf.math.imag(bins)[:, 0], tf.abs(tf.math.imag(bins)[:, -1])]
    for matrix in (even, odd, even[:0], even[:, :1, :1], even * 0, tf.ones([2, 4, 4]), tf.eye(4) * 3, odd[:, :, :1]):
        values, left, right = tf.linalg.svd(matrix)
        results += [values, tf.matmul(left * values[..., None, :], right, adjoint_b=True), tf.linalg.svd(matrix, compute_uv=False)]
        if matrix.shape[-1] == matrix.shape[-2]:
            symmetric = matrix + tf.linalg.matrix_transpose(matrix)
            values, vectors = tf.linalg.eigh(symmetric)
            results += [values, tf.matmul(vectors * values[..., None, :], vectors, adjoint_b=True), tf.linalg.eigvalsh(symmetric),
                        tf.linalg.expm(matrix * 0.5)]
    return results


def numbers_of_types(x, wide, triangles, rows, small, other, flags, whole, exponent, amount):
    """Operations on NaN, small integers and flags, and of which one operand is broadcast."""
    parts = tf.SparseTensor([[0, 1], [1, 0], [2, 2]], x[:3], [3, 3])
    joined = tf.sparse.add(parts, tf.SparseTensor([[0, 0], [1, 0], [2, 2]], x[3:6], [3, 3]), threshold=0.5)
    bf16 = tf.cast(tf.round(rows[0] * 4), tf.bfloat16)
    return [raw.Bucketize(input=x, boundaries=[-1.0, 0.0, 2.0]), raw.Bucketize(input=wide, boundaries=[-1.0, 0.1, 2.0]),
            tf.searchsorted([-1.0, 0.0, 2.0], x), tf.searchsorted([-1.0, 0.0, 2.0], x, side="right"),
            tf.linalg.triangular_solve(triangles, rows[:1]), tf.linalg.triangular_solve(triangles[0], rows, adjoint=True),
            raw.BatchMatMulV3(x=small, y=other, Tout=i32), raw.BatchMatMulV3(x=small, y=small, Tout=i32, adj_y=True),
            raw.SparseMatMul(a=rows[0], b=rows[1], transpose_a=True), tf.cast(raw.SparseMatMul(a=bf16, b=bf16, transpose_b=True), f32),
            raw.InTopK(predictions=rows[0], targets=[1, 4, 2], k=2),
            raw.ArgMax(input=x[:4], dimension=0, output_type=tf.uint16), raw.ArgMin(input=x[:4], dimension=0, output_type=i32),
            tf.argmax(flags, 1), tf.argmin(flags, 0), whole ** exponent, whole ** [3], tf.zeros(tf.constant(2) ** [3]), tf.cast(whole, i64) ** tf.cast(exponent, i64)[:1],
            raw.LeftShift(x=whole, y=amount), raw.RightShift(x=whole, y=amount), raw.RightShift(x=small, y=np.int8(9)),
            *tf.nn.compute_accidental_hits(np.array([[1], [2]]), np.array([2, 1, 1]), 1),
            joined.indices, joined.values, joined.dense_shape]


def repeated_labels(x, y):
    """Diagonals by einsum, tensors that are 0 outside of diagonals, and gradients."""
    results = [raw.Einsum(inputs=[x[0]], equation=equation) for equation in ("ij->iji", "ij->ijji", "ij->iijj")]
    results += [raw.Einsum(inputs=[x], equation=equation) for equation in ("...i->...ii", "i...->i...i", "b...->bb...", "...i->ii...")]
    for equation, operands in (("...ii->...i", [x]), ("bii->", [x]), ("iij->j", [tf.transpose(x)[..., 0, None] + y[:, None]]),
                               ("bii,jc->bjc", [x, y]), ("aab,bc->ac", [tf.transpose(x, [1, 2, 0]), y[:2]])):
        made = tf.einsum(equation, *operands)
        results += [made, *tf.gradients(tf.reduce_sum(made ** 2), [x, y], unconnected_gradients="zero")]
    return results


def selected_alike(x, y):
    """Pairs of positions and values that masks select, which are computed alike."""
    at, values, flat = tf.where(x > 0), tf.boolean_mask(x, x > 0), tf.boolean_mask(y, y > 0.0)
    there = tf.SparseTensor(at, values, tf.shape(x, out_type=i64))
    places = tf.where(y > 0.0)
    return [tf.tensor_scatter_nd_update(x, at, tf.boolean_mask(-x, x > 0)), tf.sparse.to_dense(there), tf.sparse.reduce_sum(there, 1),
            tf.scatter_nd(at, values, tf.shape(x, out_type=i64)), tf.gather_nd(x, at) * values,
            tf.stack([flat, tf.cast(places[:, 0], f32)], 1), tf.concat([flat[:, None], tf.cast(places, f32)], 1),
            flat[None] @ tf.cast(places, f32), tf.einsum("i,ij->j", flat, tf.cast(places, f32))]


def sizes_of_signals(x, image, other):
    """Signals and images that are padded by sizes of calls: to their own lengths, and to even ones."""
    return [tf.abs(tf.signal.rfft(x)), tf.image.ssim_multiscale(image, other, 1.0, filter_size=3)]


write_values("beams", beams, {"x": (f32, (12, None, 5)), "length": (i32, [None])},
             [{"x": normal(12, len(length), 5) * scale, "length": np.array(length, np.int32)}
              for scale, length in ((1, [12, 9, 3, 1]), (3, [12, 12, 12, 12]), (0.3, [5, 6, 7]), (2, [2, 11, 4, 12]))])
i = np.array([1, 4, 0, 2, 2, 7, 1], np.int32)
write_values("set_operations", set_operations,
             {"a": (i64, [2, 3, 4]), "b": (i64, [2, 3, 5]), "i": (i32, [7]), "j": (i64, [3]), "weights": (f32, [7])},
             [{"a": rng.integers(0, 5, (2, 3, 4)) * keep, "b": rng.integers(1, 7, (2, 3, 5)), "i": i, "j": np.array(j), "weights": normal(7)}
              for keep, j in ((1, [2, 2, 5]), (np.array([0, 1, 1, 0]), [0, 0, 7]))])
write_values("sparse_parts", sparse_parts, {"x": (f32, [4, 5, 3])}, [{"x": normal(4, 5, 3)}, {"x": normal(4, 5, 3) - 1}])
at = rng.integers(0, 2, (7, 3)).astype(np.int32)
y = rng.integers(0, 2, (3, 4, 2))
z = rng.integers(0, 2, (6, 2)).astype(np.float32)
z[1, 0] = z[4, 0] = np.nan
write_values("distinct", distinct, {"x": (i32, [None, 3]), "y": (i64, [3, 4, 2]), "z": (f32, [6, 2])},
             [{"x": at, "y": y, "z": z}, {"x": at[:1], "y": y * 0, "z": z * 0}])
x = rng.normal(size=40) * 3
x[:8] = 0.01, 0.5, 1.6, 2, 2.5, 8, 14, 18
large = np.array([19.9, 20.1, 25, 39, 41, 60, 300, 900.0])
for name, dtype in (("functions", np.float32), ("functions_double", np.float64)):
    write_values(name, functions, {"x": (dtype, [40]), "large": (dtype, [8])}, [{"x": x.astype(dtype), "large": large.astype(dtype)}])
write_values("parameters", parameters, {"alpha": (f32, [8]), "rate": (f32, [8])},
             [{"alpha": np.array(alpha, np.float32), "rate": np.array(rate, np.float32)}
              for alpha, rate in (([0.05, 0.3, 0.9, 1, 1.5, 5, 100, 1e4], [0, 0.01, 0.5, 3, 9.99, 10, 200, 1e6]),
                                  ([1, 0.7, 1.1, 2, 3, 4, 5, 6], [1, 2, 3, 9, 12, 15, 30, 60]))])
x = normal(4, 5)
x[0, 1] = x[2, 0] = x[2, 3] = x[3] = np.nan
x[1, 2:4] = np.inf, -np.inf
even = normal(2, 4, 4)
even[0, 3], even[1, :, 1] = even[0, 0] + even[0, 1], 0
write_values("numbers", numbers, {"x": (f32, [4, 5]), "wave": (f32, [4, 8]), "even": (f32, [2, 4, 4]), "odd": (f32, [2, 5, 3])},
             [{"x": x, "wave": normal(4, 8), "even": even, "odd": np.repeat(normal(2, 5, 1), 3, 2) + normal(2, 1, 3)}])
x = np.array([0.2, 0.3, 1, 0.1, 0.1, -1.2, -3, -1, 0, 2, 1.9, np.nan, np.inf], np.float32)
triangles = np.tril(normal(2, 3, 3)) + 2 * np.eye(3, dtype=np.float32)
small = rng.integers(-100, 100, (2, 3, 4)).astype(np.int8)
given = {"x": x, "wide": np.concatenate([x.astype(np.float64), [0.1, np.float32(0.1)]]), "triangles": triangles, "rows": normal(2, 3, 5), "small": small,
         "other": small.transpose(0, 2, 1)[:1], "flags": rng.integers(0, 2, (3, 5)).astype(bool),
         "whole": np.array([[2], [-3], [1], [0], [7]], np.int32), "exponent": np.array([0, 1, 5, 31, 2], np.int32),
         "amount": np.array([0, 3, -1, 31, 40], np.int32)}
write_values("numbers_of_types", numbers_of_types, {key: (value.dtype, value.shape) for key, value in given.items()}, [given])
image = rng.uniform(size=(2, 77, 98, 1)).astype(np.float32)
write_values("sizes_of_signals", sizes_of_signals, {"x": (f32, [None, None]), "image": (f32, [None, 77, 98, 1]), "other": (f32, [None, 77, 98, 1])},
             [{"x": normal(3, 5), "image": image, "other": (image + 0.1 * normal(*image.shape)).astype(np.float32)},
              {"x": normal(2, 8), "image": image, "other": np.clip(image * 0.9, 0, 1)}])
write_values("selected_alike", selected_alike, {"x": (f32, [None, 4]), "y": (f32, [None])},
             [{"x": normal(3, 4), "y": normal(7)}, {"x": normal(2, 4), "y": normal(1)}])
write_values("repeated_labels", repeated_labels, {"x": (f32, [None, 3, 3]), "y": (f32, [3, 4])}, [{"x": normal(2, 3, 3), "y": normal(3, 4)}])
