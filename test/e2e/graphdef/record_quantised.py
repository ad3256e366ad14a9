"""record_quantised.py FOLDER: records operations of TensorFlow (2.21 for those that are stored) on quantised tensors."""

import numpy as np
import tensorflow as tf
from recording import write_values

raw = tf.raw_ops
rng = np.random.default_rng(0)
f32 = tf.float32
TYPES = (tf.quint8, tf.qint8, tf.quint16, tf.qint16)


def normal(*shape):
    return rng.normal(size=shape).astype(np.float32)


def plain(results):
    """The integers of a result of an operation, and its range."""
    return [tf.cast(results[0], tf.int32), results[1], results[2]]


def there_and_back(x, low, high, dtype, mode, **options):
    q = raw.QuantizeV2(input=x, min_range=low, max_range=high, T=dtype, mode=mode, **options)
    options.pop("round_mode", None)
    return plain(q) + [raw.Dequantize(input=q[0], min_range=q[1], max_range=q[2], mode=mode, **options)]


def conversions(x):
    results = []
    for dtype in TYPES:
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            if mode == "MIN_FIRST" and dtype in TYPES[2:]:
                continue
            for low, high in ((-3.0, 2.0), (0.5, 4.0), (-4.0, -1.0), (0.0, 0.0)):
                results += there_and_back(x, low, high, dtype, mode)
            if mode != "MIN_FIRST":
                results += there_and_back(x, [-3.0, -1.0], [2.0, 1.5], dtype, mode, axis=3)
        results += there_and_back(x, -3.0, 2.0, dtype, "SCALED", narrow_range=True, round_mode="HALF_TO_EVEN")
    return results


def quantised(x, low, high):
    return raw.QuantizeV2(input=x, min_range=low, max_range=high, T=tf.quint8, mode="MIN_FIRST")


def networks(x, m, k, w):
    """A dense layer, convolutions, poolings and what is between them."""
    a, b = quantised(m, -3.0, 2.0), quantised(k, -2.0, 2.5)
    product = raw.QuantizedMatMul(a=a[0], b=b[0], min_a=a[1], max_a=a[2], min_b=b[1], max_b=b[2])
    same = raw.QuantizedMatMul(a=a[0], b=a[0], min_a=a[1], max_a=a[2], min_b=a[1], max_b=a[2], transpose_b=True)
    of = dict(input=product[0], input_min=product[1], input_max=product[2])
    narrow = raw.QuantizeDownAndShrinkRange(**of, out_type=tf.quint8)
    span = raw.RequantizationRange(**of)
    again = raw.Requantize(**of, requested_output_min=span[0], requested_output_max=span[1], out_type=tf.quint8)
    bias = quantised(k[0], -1.0, 2.0)
    total = raw.QuantizedBiasAdd(input=narrow[0], bias=bias[0], min_input=narrow[1], max_input=narrow[2],
                                 min_bias=bias[1], max_bias=bias[2], out_type=tf.qint32)
    results = [*plain(product), *plain(same), *plain(narrow), *span, *plain(again), *plain(total),
               raw.Dequantize(input=total[0], min_range=total[1], max_range=total[2], mode="MIN_FIRST")]
    p, q, other = quantised(x, -3.0, 2.0), quantised(w, -2.0, 2.5), quantised(x * 4.0, -2.0, 9.0)
    for padding in ("SAME", "VALID"):
        options = dict(strides=[1, 2, 2, 1], padding=padding)
        results += plain(raw.QuantizedConv2D(input=p[0], filter=q[0], min_input=p[1], max_input=p[2], min_filter=q[1],
                                             max_filter=q[2], **options))
        for pool in (raw.QuantizedMaxPool, raw.QuantizedAvgPool):
            results += plain(pool(input=p[0], min_input=p[1], max_input=p[2], ksize=[1, 3, 3, 1], **options))
    for y in (raw.QuantizedRelu(features=p[0], min_features=p[1], max_features=p[2]),
              raw.QuantizedRelu6(features=other[0], min_features=other[1], max_features=other[2]),
              raw.QuantizedMul(x=p[0], y=other[0], min_x=p[1], max_x=p[2], min_y=other[1], max_y=other[2]),
              raw.QuantizedReshape(tensor=p[0], shape=[-1, 4], input_min=p[1], input_max=p[2]),
              raw.QuantizedConcat(concat_dim=1, values=[other[0], other[0], p[0]], input_mins=[other[1], other[1], p[1]],
                                  input_maxes=[other[2], other[2], p[2]])):
        results += plain(y)
    return results


WHOLE = dict(quantization_min_val=-128, quantization_max_val=127)


def uniform(x, m, k):
    """Scales and zero points, of a tensor and of an axis."""
    one, per = dict(scales=0.05, zero_points=3), dict(scales=[0.05, 0.02], zero_points=[3, -1], quantization_axis=3)
    right = dict(scales=[0.05, 0.02, 0.03], zero_points=[0, 0, 0], quantization_axis=1)
    results = []
    for of in (one, per):
        q = raw.UniformQuantize(input=x, Tout=tf.qint8, **of, **WHOLE)
        results += [tf.cast(q, tf.int32), raw.UniformDequantize(input=q, Tout=f32, **of, **WHOLE)]
    moved = raw.UniformRequantize(input=raw.UniformQuantize(input=x, Tout=tf.qint8, **one, **WHOLE), input_scales=0.05,
                                  input_zero_points=3, output_scales=0.07, output_zero_points=-4, Tout=tf.qint8,
                                  **{f"{way}_{key}": value for way in ("input", "output") for key, value in WHOLE.items()})
    a = raw.UniformQuantize(input=m, Tout=tf.qint8, **one, **WHOLE)
    b = raw.UniformQuantize(input=k, Tout=tf.qint8, **right, quantization_min_val=-127, quantization_max_val=127)
    of_right = {f"rhs_{key}": value for key, value in right.items()}
    of_right.update(rhs_quantization_min_val=-127, rhs_quantization_max_val=127)
    hybrid = raw.UniformQuantizedDotHybrid(lhs=m, rhs=b, Tout=f32, **of_right)
    dot = raw.UniformQuantizedDot(lhs=a, rhs=b, lhs_scales=0.05, lhs_zero_points=3, output_scales=[0.0025, 0.001, 0.0015],
                                  output_zero_points=[0, 0, 0], output_quantization_axis=1, Tout=tf.qint32,
                                  lhs_quantization_min_val=-128, lhs_quantization_max_val=127, **of_right,
                                  output_quantization_min_val=-(2**31), output_quantization_max_val=2**31 - 1)
    return results + [tf.cast(moved, tf.int32), hybrid, tf.cast(dot, tf.int32)]


x, m, k, w = normal(3, 6, 6, 2) * 2, normal(4, 5), normal(5, 3), normal(3, 3, 2, 4)
write_values("quantised_conversions", conversions, {"x": (f32, x.shape)}, [{"x": x}])
write_values("quantised_networks", networks, {key: (f32, v.shape) for key, v in zip("xmkw", (x, m, k, w))},
             [dict(zip("xmkw", (x, m, k, w)))])
write_values("quantised_uniform", uniform, {key: (f32, v.shape) for key, v in zip("xmk", (x, m, k))},
             [dict(zip("xmk", (x, m, k)))])
