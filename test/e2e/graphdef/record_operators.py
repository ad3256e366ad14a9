"""record_operators.py FOLDER: records operations of TensorFlow (2.21 for those that are stored) beyond those of layers:
random numbers of keys, special functions, factors of matrices, images, recurrent cells, sparse tensors and bits."""

import numpy as np
import tensorflow as tf
from recording import v1, write_case, write_values

raw = tf.raw_ops
rng = np.random.default_rng(0)
f32, f64, i32, i64 = tf.float32, tf.float64, tf.int32, tf.int64


def normal(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


def random_keys(seed, x):
    s = tf.random
    results = []
    for count in (1, 7, 64):
        results += [s.stateless_uniform([count], seed), s.stateless_uniform([count, 3], seed, dtype=f64),
                    s.stateless_uniform([count], seed, dtype=tf.float16), s.stateless_normal([count], seed),
                    s.stateless_normal([count], seed, dtype=f64), s.stateless_truncated_normal([count], seed),
                    s.stateless_truncated_normal([count], seed, dtype=f64),
                    s.stateless_uniform([count], seed, -10, 300, dtype=i32),
                    s.stateless_uniform([count], seed, -10, 3000000000000, dtype=i64),
                    s.stateless_uniform([count], seed, None, None, dtype=tf.uint32),
                    s.stateless_uniform([count], seed, None, None, dtype=i64)]
    old = [raw.StatelessRandomUniform(shape=[5], seed=seed), raw.StatelessRandomNormal(shape=[5], seed=seed),
           raw.StatelessTruncatedNormal(shape=[300], seed=seed),
           raw.StatelessRandomUniformInt(shape=[5], seed=seed, minval=3, maxval=9),
           raw.StatelessRandomUniformFullInt(shape=[5], seed=seed, dtype=i32)]
    dropped = [tf.nn.experimental.stateless_dropout(x, 0.4, seed, rng_alg=alg) for alg in ("philox", "auto_select")]
    old += [s.stateless_categorical(x[:3] * tf.constant([0.0, 1, 2, -np.inf, 3]), 9, seed),
            s.stateless_categorical(x[:1], 4, seed, dtype=i32), s.experimental.stateless_shuffle(tf.range(37), seed),
            s.experimental.stateless_shuffle(x[:1] * 2, seed)]
    return results + old + dropped + [s.experimental.stateless_fold_in(seed, 5), s.split(seed, 3),
                                      s.stateless_uniform([0, 3], seed), *raw.StatelessRandomGetKeyCounterAlg(seed=seed)]


def generator():
    """A generator whose state is a variable: each step draws other numbers."""
    graph = tf.Graph()
    with graph.as_default():
        state = raw.VarHandleOp(dtype=i64, shape=[3], shared_name="state")
        start = raw.AssignVariableOp(resource=state, value=tf.constant([5, -1, 1234567], i64))
        count = v1.placeholder(tf.uint64, [], name="count")
        before = raw.RngReadAndSkip(resource=state, alg=1, delta=count)
        words = tf.bitcast(before, tf.uint64)
        drawn = raw.StatelessRandomUniformV2(shape=[6], key=words[2:], counter=words[:2], alg=1)
        fetches = [tf.identity(before, name="before"), tf.identity(drawn, name="drawn")]
    write_case("generator", graph, [start.name], fetches,
               [{"count": np.array(n, np.uint64)} for n in (1, 6, 2**40, 0, 1)], 1e-6)


def special(x, near, p, q):
    m = tf.math
    return [m.lgamma(x), m.digamma(near), m.zeta(p + 1.5, q), m.polygamma(tf.constant([[0.0], [1.0], [3.0]], x.dtype), q),
            m.zeta(tf.constant([[2.0], [3.0], [1.0], [0.5]], x.dtype), tf.constant([1, -0.5, 2, -3], x.dtype)),
            m.igamma(p, q), m.igammac(p, q), raw.IgammaGradA(a=p, x=q), m.betainc(p, q, tf.abs(tf.sin(x))),
            m.erfinv(tf.sin(x)), m.ndtri(tf.abs(tf.sin(x))), m.bessel_i0(x), m.bessel_i0e(x), m.bessel_i1(x),
            m.bessel_i1e(x), m.cumulative_logsumexp(x), m.cumulative_logsumexp(x, exclusive=True, reverse=True),
            m.nextafter(x, x + 1), m.nextafter(x, x - 1), m.nextafter(tf.constant([1, 0], x.dtype), [np.inf, 1]),
            tf.signal.kaiser_window(9, dtype=x.dtype), tf.histogram_fixed_width(x, tf.constant([-2, 3], x.dtype), nbins=7),
            raw.ApproximateEqual(x=x, y=x + tf.constant([1e-6] * 20 + [1e-3] * 15, x.dtype), tolerance=1e-4)]


def bits(x, i):
    c = tf.cast
    return [tf.bitcast(x, i32), tf.bitcast(x, tf.uint8), tf.bitcast(tf.bitcast(x, tf.uint8), f32),
            tf.bitcast(tf.reshape(x[:34], [17, 2]), f64), tf.bitcast(tf.bitcast(x, tf.int16), i32),
            *[c(raw.PopulationCount(x=c(i, t)), i32) for t in (tf.int8, tf.int16, i32, i64, tf.uint8, tf.uint16)],
            tf.truncatediv(c(i, tf.int8), tf.constant(-3, tf.int8)), tf.truncatediv(i * 2**24, 2**20 * 3 + 1),
            tf.truncatemod(i * 2**24, 2**20 * 3 + 1), *[tf.reduce_mean(c(i, t)) for t in (tf.int8, tf.int16, i64)],
            tf.reduce_mean(i * 2**24, 0), tf.reduce_mean(tf.fill([4], tf.constant(250, tf.uint8))),
            c(tf.abs(x), tf.uint32) % tf.constant(7, tf.uint32),
            c(tf.abs(x), tf.uint64) + tf.constant(2**63 + 5, tf.uint64)]


def eigen(a, wide, square, rhs, bands):
    l = tf.linalg
    tall = tf.transpose(wide, [0, 2, 1])
    return [*l.lu(square), l.eigvalsh(square), tf.abs(l.eigh(square)[1]), l.svd(wide, compute_uv=False),
            *[tf.abs(v) for v in l.svd(wide)], tf.abs(l.svd(tall, full_matrices=True)[2]), l.pinv(wide),
            tf.gradients(tf.reduce_sum(l.svd(wide, compute_uv=False) ** 3), wide)[0],
            tf.gradients(tf.reduce_sum(l.eigh(square)[0] ** 3), square)[0],
            l.lstsq(tall, rhs), l.lstsq(tall, rhs, fast=False), l.lstsq(tall, rhs, l2_regularizer=0.3),
            l.lstsq(wide, rhs[:, :3], fast=False), l.lstsq(wide, rhs[:, :3], l2_regularizer=0.3),
            l.tridiagonal_solve(bands, a, diagonals_format="compact"),
            l.tridiagonal_solve(bands + [[[0.0], [4.0], [0.0]]], a, diagonals_format="compact", partial_pivoting=False),
            l.tridiagonal_matmul(bands, a, diagonals_format="compact")]


def diagonals(x):
    l = tf.linalg
    return [l.tensor_diag(x[0, 0]), l.tensor_diag(x[0, :2, :3]),
            l.tensor_diag_part(tf.reshape(x[:, :, :3], [3, 2, 3, 2])), l.tensor_diag_part(x[0, :, :4]),
            raw.DataFormatVecPermute(x=[1, 2, 3, 4], src_format="NHWC", dst_format="NCHW"),
            raw.DataFormatVecPermute(x=[[1, 5], [2, 6], [3, 7], [4, 8]], src_format="NCHW", dst_format="NHWC"),
            raw.DataFormatVecPermute(x=[1, 2], src_format="NHWC", dst_format="NCHW"),
            raw.DataFormatDimMap(x=[0, 1, -1, 3, -4], src_format="NHWC", dst_format="NCHW"),
            *raw.UniqueV2(x=[3, 1, 3], axis=[0]), *raw.UniqueWithCountsV2(x=[3, 1, 3], axis=tf.constant([], i32)),
            raw.InplaceAdd(x=x + 1.0, i=[1], v=x[:1]), raw.InplaceUpdate(x=x + 2.0, i=[2], v=x[:1]),
            raw.InplaceSub(x=x + 3.0, i=[0, 1], v=x[:2]), raw.Empty(shape=[2, 3], dtype=f32, init=True),
            raw.TensorStridedSliceUpdate(input=x, begin=[0, 1, 0], end=[3, 3, 5], strides=[1, 1, 2], value=x[:, :2, :3]),
            raw.TensorStridedSliceUpdate(input=x, begin=[0, 3, 0], end=[0, 0, 0], strides=[1, -2, 1], value=x[0, :2],
                                         shrink_axis_mask=1, end_mask=4)]


def slices(name, use_resource):
    """Assigns slices of a variable, by reference or as a resource."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(f32, [2, 3], name="x")
        v = v1.get_variable("v", [4, 6], initializer=tf.ones_initializer(), use_resource=use_resource)
        first = v[1:3, ::2].assign(x)
        with tf.control_dependencies([first]):
            second = v[0, 4:1:-1].assign(x[0] * 2)
        with tf.control_dependencies([second]):
            value = tf.identity(v.read_value() if use_resource else v + 0.0, name="value")
        init = v1.global_variables_initializer()
    write_case(name, graph, [init.name], [value], [{"x": normal(2, 3)} for _ in range(2)], 1e-6)


KERNELS = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")


def scaling(x, g):
    results = []
    for kernel in KERNELS:
        for antialias in (True, False):
            results += [raw.ScaleAndTranslate(images=x, size=[5, 11], scale=[0.61, 1.87], translation=[0.31, -0.73],
                                              kernel_type=kernel, antialias=antialias),
                        raw.ScaleAndTranslateGrad(grads=g, original_image=x, scale=[0.61, 1.87], translation=[0.31, -0.73],
                                                  kernel_type=kernel, antialias=antialias)]
    return results + [tf.image.resize(x, [4, 9], method, antialias=True) for method in ("bilinear", "lanczos3", "bicubic")]


def projections(x, t):
    results = []
    for fill in ("REFLECT", "WRAP", "CONSTANT", "NEAREST"):
        for way in ("NEAREST", "BILINEAR"):
            options = dict(interpolation=way, fill_mode=fill)
            results += [raw.ImageProjectiveTransformV3(images=x, transforms=t, output_shape=[9, 8], fill_value=0.5, **options),
                        raw.ImageProjectiveTransformV3(images=x, transforms=t[:1], output_shape=[7, 6], fill_value=0.0,
                                                       **options),
                        raw.ImageProjectiveTransformV2(images=x, transforms=t * 2, output_shape=[9, 8], **options)]
    whole = tf.cast(x * 50 + 100, tf.uint8)
    return results + [raw.ImageProjectiveTransformV3(images=whole, transforms=t, output_shape=[9, 8], fill_value=7.0,
                                                     interpolation="NEAREST")]


def windows(x, volume, filters, box, g):
    results = [raw.CropAndResizeGradBoxes(grads=g, image=x, boxes=box, box_ind=[0, 1, 1])]
    for padding in ("SAME", "VALID"):
        dilated = raw.Dilation2D(input=x, filter=filters, strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding=padding)
        pooled = raw.MaxPoolV2(input=x, ksize=tf.constant([1, 3, 2, 1]), strides=tf.constant([1, 2, 1, 1]), padding=padding)
        results += [raw.ExtractVolumePatches(input=volume, ksizes=[1, 2, 3, 2, 1], strides=[1, 2, 1, 3, 1], padding=padding),
                    dilated, *tf.gradients(tf.reduce_sum(dilated**2), [x, filters]),
                    pooled, *tf.gradients(tf.reduce_sum(pooled**2), x)]
    return results


def cells(x, c, h, w, wi, wf, wo, b, gru, gru_c, rows):
    results = []
    for peephole in (False, True):
        weights = dict(cs_prev=c, h_prev=h, w=w, wci=wi, wcf=wf, wco=wo, b=b, use_peephole=peephole)
        results += [*raw.LSTMBlockCell(x=x, cell_clip=0.8, **weights), *raw.LSTMBlockCell(x=x, cell_clip=-1, **weights),
                    *raw.BlockLSTM(seq_len_max=tf.constant(6, i64), x=rows, **weights),
                    *raw.BlockLSTMV2(seq_len_max=tf.constant(6, i64), x=rows, cell_clip=0.5, **weights)]
    return results + [*raw.GRUBlockCell(x=x, h_prev=h, w_ru=gru, w_c=gru_c, b_ru=b[:8], b_c=b[:4])]


def labels(x, steps):
    rows = [[0, 1, 1, 2], [3], [1, 0], [2, 2]]
    at = tf.constant([(i, j) for i, row in enumerate(rows) for j in range(len(row))], i64)
    values = tf.constant(sum(rows, []), i32)
    results = []
    for collapse in (False, True):
        for merge in (False, True):
            results += raw.CTCLoss(inputs=x, labels_indices=at, labels_values=values, sequence_length=steps,
                                   preprocess_collapse_repeated=collapse, ctc_merge_repeated=merge)
    return results + [*raw.CTCLoss(inputs=x, labels_indices=at, labels_values=values, sequence_length=[3, 4, 5, 2],
                                   ignore_longer_outputs_than_inputs=True)]


def quantised(g, x):
    results = []
    for narrow in (False, True):
        for count in (8, 3):
            options = dict(num_bits=count, narrow_range=narrow)
            results += [raw.FakeQuantWithMinMaxArgsGradient(gradients=g, inputs=x * 5, min=-3.0, max=4.2, **options),
                        *raw.FakeQuantWithMinMaxVarsGradient(gradients=g, inputs=x * 5, min=-3.0, max=4.2, **options),
                        *raw.FakeQuantWithMinMaxVarsGradient(gradients=g, inputs=x, min=0.0, max=0.0, **options),
                        *raw.FakeQuantWithMinMaxVarsPerChannelGradient(gradients=g, inputs=x * 3, min=[-1.0, -0.2, 0.0],
                                                                       max=[1.0, 1.5, 2.0], **options)]
    results += [*raw.QuantizeAndDequantizeV4Grad(gradients=g, input=x, input_min=-0.5, input_max=0.7),
                *raw.QuantizeAndDequantizeV4Grad(gradients=g, input=x, input_min=[-0.5, -0.2, -1], input_max=[0.7, 0.4, 1],
                                                 axis=1)]
    return results


def soft_boxes(box, score, sigma):
    results = []
    for width in (0.0, 0.3, 0.9, sigma):
        for padded in (False, True):
            for overlap in (1.0, 0.4):
                results += raw.NonMaxSuppressionV5(boxes=box, scores=score, max_output_size=15, iou_threshold=overlap,
                                                   score_threshold=0.2, soft_nms_sigma=width,
                                                   pad_to_max_output_size=padded)
    return results


def sparse_sums(x, values):
    s = tf.sparse
    a = s.SparseTensor([[0, 1], [1, 3], [2, 0]], values, [3, 4])
    b = s.SparseTensor([[0, 1], [1, 2], [2, 0]], values * 2 - 1, [3, 4])
    filled = s.fill_empty_rows(s.SparseTensor([[0, 1], [0, 3], [2, 0]], values, [4, 4]), 0.0)[0]
    results = [s.reduce_sum(a, 1), s.reduce_sum(a, [-2]), s.reduce_sum(a), s.reduce_sum(a, 1, keepdims=True),
               s.reduce_max(a, 0), s.reduce_max(a, 1, keepdims=True), s.reduce_max(a), s.add(a, x[:, :, 0]),
               s.softmax(s.SparseTensor([[0, 1], [0, 3], [2, 0]], values, [3, 4])).values, (a * x[:, :, 0]).values,
               (a * x[0, :, 0]).values, (a / x[:, :1, 0]).values,
               raw.SparseDenseCwiseAdd(sp_indices=a.indices, sp_values=a.values, sp_shape=[3, 4], dense=x[:, :, 1]),
               *tf.gradients(tf.reduce_sum(filled.values**3), values)]
    for each in (s.add(a, b), s.add(a, b, threshold=0.5), s.concat(0, [a, b]), s.concat(-1, [a, b, a]),
                 s.slice(a, [0, 1], [2, 9])):
        results += [each.indices, each.values, each.dense_shape]
    for segment in (s.segment_mean, s.segment_sum, s.segment_sqrt_n):
        results += [segment(x, [0, 2, 1], [0, 0, 1], num_segments=3),
                    *tf.gradients(tf.reduce_sum(segment(x, [0, 2, 1, 0], [0, 0, 1, 1]) ** 2), x)]
    return results


def messages(x):
    """Messages of a graph change nothing."""

    @tf.function
    def spoken(a):
        tf.print("sum", a, summarize=3)
        if tf.reduce_sum(a) > 0:
            tf.print(a)
            return a + 1
        return a * 2

    @tf.function
    def counted(a):
        i = 0
        while tf.reduce_sum(tf.abs(a)) < 100.0:
            tf.print("step", i, a)
            a = a * 2
            i += 1
        return a

    with tf.control_dependencies([tf.print("x:", x, tf.shape(x))]):
        y = x * 3
    return [y, spoken(x), counted(x), tf.ensure_shape(x, [5])]


write_values("random_keys", random_keys, {"seed": (i64, [2]), "x": (f32, [4, 5])},
             [{"seed": np.array(seed), "x": np.ones((4, 5), np.float32)} for seed in ([7, -3], [123456789012345, 99])])
generator()
numbers = np.concatenate([normal(30) * 4, [0, 1, 2, -2, 0.5]])
for name, dtype in (("special", np.float32), ("special_double", np.float64)):
    x, p = numbers.astype(dtype), (np.abs(rng.normal(size=35)) * 5 + 0.1).astype(dtype)
    write_values(name, special, {key: (dtype, [35]) for key in ("x", "near", "p", "q")},
                 [{"x": x, "near": (x + 0.013).astype(dtype), "p": p, "q": p[::-1].copy()}])
write_values("bits", bits, {"x": (f32, [35]), "i": (i32, [35])},
             [{"x": numbers.astype(np.float32), "i": rng.integers(-128, 128, 35).astype(np.int32)}])
write_values("eigen", eigen, {"a": (f64, [2, 6, 2]), "wide": (f64, [2, 3, 5]), "square": (f64, [2, 5, 5]),
                              "rhs": (f64, [2, 5, 2]), "bands": (f64, [2, 3, 6])},
             [{"a": normal(2, 6, 2, dtype=np.float64), "wide": normal(2, 3, 5, dtype=np.float64),
               "square": normal(2, 5, 5, dtype=np.float64), "rhs": normal(2, 5, 2, dtype=np.float64),
               "bands": normal(2, 3, 6, dtype=np.float64)}])
write_values("diagonals", diagonals, {"x": (f32, [3, 4, 5])}, [{"x": normal(3, 4, 5)}])
slices("slices_references", False)
slices("slices_resources", True)
image = {"x": normal(2, 7, 6, 3)}
write_values("scaling", scaling, {"x": (f32, [2, 7, 6, 3]), "g": (f32, [2, 5, 11, 3])}, [image | {"g": normal(2, 5, 11, 3)}])
turn = [[np.cos(0.4), -np.sin(0.4), 1.2345, np.sin(0.4), np.cos(0.4), -2.0371, 0, 0],
        [1.3371, 0.2113, -3.1177, 0.1037, 0.7071, 5.1234, 0.0213, -0.0317]]
write_values("projections", projections, {"x": (f32, [2, 7, 6, 3]), "t": (f32, [2, 8])},
             [image | {"t": np.array(turn, np.float32)}])
write_values("windows", windows, {"x": (f32, [2, 7, 6, 3]), "volume": (f32, [2, 5, 6, 7, 3]), "filters": (f32, [3, 2, 3]),
                                  "box": (f32, [3, 4]), "g": (f32, [3, 4, 5, 3])},
             [image | {"volume": normal(2, 5, 6, 7, 3), "filters": normal(3, 2, 3), "g": normal(3, 4, 5, 3),
                       "box": np.array([[0.11, 0.21, 0.83, 0.72], [0.01, 0.02, 0.97, 0.96], [0.31, -0.2, 0.43, 0.9]], np.float32)}])
sizes = {"x": [3, 5], "c": [3, 4], "h": [3, 4], "w": [9, 16], "wi": [4], "wf": [4], "wo": [4], "b": [16], "gru": [9, 8],
         "gru_c": [9, 4], "rows": [6, 3, 5]}
write_values("cells", cells, {key: (f32, size) for key, size in sizes.items()},
             [{key: normal(*size) for key, size in sizes.items()}])
write_values("labels", labels, {"x": (f32, [9, 4, 5]), "steps": (i32, [4])},
             [{"x": normal(9, 4, 5), "steps": np.array([9, 4, 5, 6], np.int32)}])
write_values("quantised", quantised, {"g": (f32, [4, 3]), "x": (f32, [4, 3])}, [{"g": normal(4, 3), "x": normal(4, 3)}])
corner, size = rng.random((20, 2)), rng.random((20, 2)) * 0.5
write_values("soft_boxes", soft_boxes, {"box": (f32, [20, 4]), "score": (f32, [20]), "sigma": (f32, [])},
             [{"box": np.concatenate([corner, corner + size], 1).astype(np.float32), "score": score,
               "sigma": np.array(sigma, np.float32)}
              for score, sigma in ((rng.random(20).astype(np.float32), 0.4), (rng.random(20).astype(np.float32), 0.0))])
write_values("sparse_sums", sparse_sums, {"x": (f32, [3, 4, 5]), "values": (f32, [3])},
             [{"x": normal(3, 4, 5), "values": np.array([1, -2, 3], np.float32)}])
write_values("messages", messages, {"x": (f32, [None])}, [{"x": np.abs(normal(5))}, {"x": -np.abs(normal(5))}])
