"""record_layouts.py FOLDER: records convolutions and pooling of images with the channels first, and their gradients, with
TensorFlow (2.21 for those that are stored)."""

import numpy as np
import tensorflow as tf

from recording import v1, write_values

rng = np.random.default_rng(23)


def normal(*shape):
    return rng.normal(size=shape).astype(np.float32)


class First:
    """Functions of images with the channels first."""

    def __init__(self, rank):
        self.format = "NCHW" if rank == 4 else "NCDHW"

    def numbers(self, batch, channels, *spatial):
        return [batch, channels, *spatial]

    def images(self, x):
        return x

    def result(self, y):
        return y


class Last:
    """The same with the channels last inside, which TensorFlow runs on CPUs."""

    def __init__(self, rank):
        self.rank, self.format = rank, "NHWC" if rank == 4 else "NDHWC"

    def numbers(self, batch, channels, *spatial):
        return [batch, *spatial, channels]

    def images(self, x):
        return tf.transpose(x, [0, *range(2, self.rank), 1])

    def result(self, y):
        return tf.transpose(y, [0, self.rank - 1, *range(1, self.rank - 1)])


def with_gradients(layout, made, *operands):
    """A result with the channels first, and the gradients of the sum of its squares."""
    y = layout.result(made)
    return [y, *v1.gradients(tf.reduce_sum(y * y), operands)]


def convolutions(layout, x, kernel, wide, each, back):
    images, numbers, name = layout.images(x), layout.numbers, {"data_format": layout.format}
    explicit = numbers([0, 0], [0, 0], [1, 0], [2, 1])
    # TensorFlow has no gradients of dilated convolutions or groups on CPUs.
    results = [layout.result(tf.nn.conv2d(images, wide, 1, "VALID", dilations=numbers(1, 1, 1, 2), **name))]
    for made, *operands in (
            (tf.nn.conv2d(images, kernel, numbers(1, 1, 2, 1), "SAME", **name), kernel),
            (tf.nn.conv2d(images, kernel, 2, explicit, **name), kernel),
            (tf.nn.depthwise_conv2d(images, each, numbers(1, 1, 2, 2), "SAME", **name), each),
            (tf.nn.conv2d_transpose(images, back, numbers(2, 5, 12, 14), 2, "SAME", **name), back),
            (tf.nn.max_pool2d(images, [3, 2], [2, 1], "SAME", **name),),
            (tf.nn.max_pool2d(images, 3, 2, explicit, **name),),
            (tf.nn.avg_pool2d(images, [3, 2], [2, 1], "SAME", **name),),
            (tf.nn.avg_pool2d(images, 2, 2, "VALID", **name),)):
        results += with_gradients(layout, made, x, *operands)
    return results


def volumes(layout, x, kernel):
    images, numbers, name = layout.images(x), layout.numbers, {"data_format": layout.format}
    results = with_gradients(layout, tf.nn.conv3d(images, kernel, numbers(1, 1, 1, 2, 1), "SAME", **name), x, kernel)
    for pool in tf.nn.max_pool3d, tf.nn.avg_pool3d:
        results += with_gradients(layout, pool(images, [2, 3, 2], [1, 2, 2], "SAME", **name), x)
    return results


def record(name, build, given):
    def in_layout(layout):
        return lambda x, *others: build(layout(len(x.shape)), x, *others)
    write_values(name, in_layout(First), {key: (f32, value.shape) for key, value in given.items()}, [given],
                 equivalent=in_layout(Last))


f32 = tf.float32
record("channels_first", convolutions,
       {"x": normal(2, 4, 6, 7), "kernel": normal(3, 3, 4, 6), "wide": normal(2, 3, 2, 6), "each": normal(3, 2, 4, 2),
        "back": normal(3, 3, 5, 4)})
record("volumes_first", volumes, {"x": normal(2, 3, 4, 5, 6), "kernel": normal(2, 3, 2, 3, 4)})
