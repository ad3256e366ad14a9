"""TensorFlow: the training step as a graph, compiled by XLA when it is called with --xla."""

import sys

import numpy as np
import protocol
import tensorflow as tf

xla = "--xla" in sys.argv
tf.config.threading.set_intra_op_parallelism_threads(protocol.threads)
tf.config.threading.set_inter_op_parallelism_threads(1)


def make_scalar_loop():
    @tf.function(jit_compile=xla)
    def loop(n):
        def body(i, s):
            return i + 1, s * 0.5 + tf.cast(i, tf.float32)

        return tf.while_loop(lambda i, s: i < n, body, (0, 0.0))[1]

    return loop


def make_cell_loop():
    xs, w, b = map(tf.constant, protocol.cell_feeds())

    @tf.function(jit_compile=xla)
    def loop(n):
        def body(t, c, h):
            i, j, f, o = tf.split(tf.matmul(tf.concat([xs[t], h], 1), w) + b, 4, 1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(j)
            return t + 1, c, tf.sigmoid(o) * tf.tanh(c)

        zero = tf.zeros((1, 32))
        return tf.while_loop(lambda t, c, h: t < n, body, (0, zero, zero))[2]

    return loop


def make_task(task):
    if task.startswith("loop_"):
        loop = make_scalar_loop() if task == "loop_scalar" else make_cell_loop()
        n = tf.constant(protocol.iterations(task))
        return lambda: loop(n).numpy(), protocol.magnitude(loop(n))
    initial = protocol.variables("mlp.safetensors")
    weights = {name: tf.Variable(initial[name]) for name in ("w1", "b1", "w2", "b2")}
    order = list(weights.values())
    first = [tf.Variable(tf.zeros_like(v)) for v in order]
    second = [tf.Variable(tf.zeros_like(v)) for v in order]
    count = tf.Variable(0.0)
    x = tf.constant(protocol.feed("mlp", "x", np.float32, (64, 64)))
    label = tf.constant(protocol.feed("mlp", "label", np.int32, (64,)))

    @tf.function(jit_compile=xla)
    def update(x, label):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x @ weights["w1"] + weights["b1"])
            logits = hidden @ weights["w2"] + weights["b2"]
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(label, logits)
            loss = tf.reduce_mean(losses)
        grads = tape.gradient(loss, order)
        t = count.assign_add(1.0)
        rate, correction = 1e-3 / (1 - 0.9**t), 1 / (1 - 0.999**t)
        for v, g, m, s in zip(order, grads, first, second):
            m.assign(0.9 * m + 0.1 * g)
            s.assign(0.999 * s + 0.001 * g * g)
            v.assign_sub(rate * m / (tf.sqrt(s * correction) + 1e-8))
        return loss

    def step():
        return float(update(x, label))

    return step, protocol.train(step)


protocol.serve("xla" if xla else "tensorflow", tf.__version__, make_task)
