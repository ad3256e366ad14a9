"""TensorFlow: a training step of a network as a graph, compiled by XLA when it is called with --xla."""

import sys

import networks
import numpy as np
import protocol
import tensorflow as tf

xla = "--xla" in sys.argv
tf.config.threading.set_intra_op_parallelism_threads(protocol.threads)
tf.config.threading.set_inter_op_parallelism_threads(1)


class ops:
    relu, sigmoid, tanh, softmax = tf.nn.relu, tf.sigmoid, tf.tanh, tf.nn.softmax
    reshape, transpose, split, concat, take = tf.reshape, tf.transpose, tf.split, tf.concat, tf.gather

    def gelu(x):
        return tf.nn.gelu(x, approximate=True)

    def causal(score):
        return tf.where(np.tri(128, dtype=bool), score, -np.inf)

    def layer_norm(x, scale, shift):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + shift

    def conv(x, kernel, bias, stride=1, pads=None):
        is_same = stride == 1 and pads in (None, kernel.shape[0] // 2)  # for which TensorFlow is faster by its name
        padding = "SAME" if is_same else [[0, 0], [pads, pads], [pads, pads], [0, 0]]
        return tf.nn.conv2d(x, kernel, stride, padding) + bias

    def max_pool(x, size=2):
        return tf.nn.max_pool2d(x, size, 2, "VALID")

    def scan(cell, x, shape):
        return tf.scan(cell, x, (tf.zeros(shape), tf.zeros(shape)))[1]

    def cross_entropy(scores, label):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(label, scores))


class Adam:
    def __init__(self, weights):
        self.slots = [[tf.Variable(tf.zeros_like(v)) for v in weights] for _ in range(2)]
        self.count = tf.Variable(0.0)

    def apply(self, weights, grads):
        t = self.count.assign_add(1.0)
        rate, correction = 1e-3 / (1 - 0.9**t), 1 / (1 - 0.999**t)
        for v, g, m, s in zip(weights, grads, *self.slots):
            m.assign(0.9 * m + 0.1 * g)
            s.assign(0.999 * s + 0.001 * g * g)
            v.assign_sub(rate * m / (tf.sqrt(s * correction) + 1e-8))


class Momentum:
    def __init__(self, weights):
        self.slots = [tf.Variable(tf.zeros_like(v)) for v in weights]

    def apply(self, weights, grads):
        for v, g, slot in zip(weights, grads, self.slots):
            slot.assign(0.9 * slot + g)
            v.assign_sub(1e-3 * slot)


class Clipped:
    def __init__(self, weights):
        pass

    def apply(self, weights, grads):
        for v, g in zip(weights, tf.clip_by_global_norm(grads, 5.0)[0]):
            v.assign_sub(1e-3 * g)


OPTIMIZERS = {"lenet": Momentum, "alexnet": Momentum, "lstm": Clipped, "gpt": Adam}


def make_task(task):
    weights, x, label = networks.load(task)
    w = {name: tf.Variable(value) for name, value in weights.items()}
    order, x, label = list(w.values()), tf.constant(x), tf.constant(label)
    optimizer = OPTIMIZERS[task](order)

    @tf.function(jit_compile=xla)
    def update(x, label):
        with tf.GradientTape() as tape:
            loss = networks.NETWORKS[task](ops, w, x, label)
        grads = [tf.convert_to_tensor(g) for g in tape.gradient(loss, order)]
        optimizer.apply(order, grads)
        return loss

    def step():
        return float(update(x, label))

    return step, protocol.train(step)


protocol.serve("xla" if xla else "tensorflow", tf.__version__, make_task)
