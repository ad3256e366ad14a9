"""A translation model as programs of TensorFlow 1 write it: embeddings, an LSTM in a loop over TensorArrays, a decoder that
attends to its outputs, a sampled softmax, clipped gradients, and updates of those rows that a batch used."""

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


class Cell:
    """The operations of BasicLSTMCell."""

    def __init__(self, name, inputs, units, normal):
        with v1.variable_scope(name):
            self.kernel = v1.get_variable("kernel", initializer=normal(inputs + units, 4 * units))
            self.bias = v1.get_variable("bias", [4 * units], initializer=v1.zeros_initializer())

    def __call__(self, x, c, h):
        gates = tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), self.kernel), self.bias)
        i, j, f, o = tf.split(gates, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        return c, tf.tanh(c) * tf.sigmoid(o)


def unstacked(x):
    """A TensorArray of the steps of [batch, step, unit]."""
    x = tf.transpose(x, [1, 0, 2])
    return tf.TensorArray(tf.float32, tf.shape(x)[0]).unstack(x)


def encode(cell, x, lengths, zero):
    """States stay as they are after the end of a sequence, as in dynamic_rnn."""
    steps, inputs = tf.shape(x)[1], unstacked(x)

    def step(t, c, h, results):
        new_c, new_h = cell(inputs.read(t), c, h)
        live = t < lengths
        c, h = v1.where(live, new_c, c), v1.where(live, new_h, h)
        return t + 1, c, h, results.write(t, v1.where(live, h, tf.zeros_like(h)))

    start = [0, zero, zero, tf.TensorArray(tf.float32, steps)]
    _, c, h, results = tf.while_loop(lambda t, *_: t < steps, step, start)
    return tf.transpose(results.stack(), [1, 0, 2]), c, h


def train(rng, optimizer, words=40, width=6, units=8, sampled=7):
    """The operations of a step: `loss`, `norm`, `train`, and `sampler`, whose results may be fed."""

    def normal(*shape):
        return (rng.normal(size=shape) * 0.3).astype(np.float32)

    source = v1.placeholder(tf.int32, [None, None], "source")
    lengths = v1.placeholder(tf.int32, [None], "lengths")
    target = v1.placeholder(tf.int32, [None, None], "target")
    from_words = v1.get_variable("from_words", initializer=normal(words, width))
    to_words = v1.get_variable("to_words", initializer=normal(words, width))
    encoder, decoder = Cell("encoder", width, units, normal), Cell("decoder", width + units, units, normal)
    zero = tf.zeros([tf.shape(source)[0], units])
    memory, c, h = encode(encoder, tf.nn.embedding_lookup(from_words, source), lengths, zero)
    by_memory = v1.get_variable("by_memory", initializer=normal(units, units))
    by_query = v1.get_variable("by_query", initializer=normal(units, units))
    scale = v1.get_variable("scale", initializer=normal(units))
    keys = tf.reshape(tf.matmul(tf.reshape(memory, [-1, units]), by_memory), tf.shape(memory))
    outside = (1.0 - tf.sequence_mask(lengths, tf.shape(source)[1], tf.float32)) * -1e9
    steps, inputs = tf.shape(target)[1] - 1, unstacked(tf.nn.embedding_lookup(to_words, target[:, :-1]))

    def step(t, c, h, context, results):
        c, h = decoder(tf.concat([inputs.read(t), context], 1), c, h)
        query = tf.expand_dims(tf.matmul(h, by_query), 1)
        scores = tf.nn.softmax(tf.reduce_sum(scale * tf.tanh(keys + query), 2) + outside)
        context = tf.reduce_sum(tf.expand_dims(scores, 2) * memory, 1)
        return t + 1, c, h, context, results.write(t, tf.concat([h, context], 1))

    start = [0, c, h, zero, tf.TensorArray(tf.float32, steps)]
    results = tf.while_loop(lambda t, *_: t < steps, step, start)[-1]
    hidden = tf.reshape(tf.transpose(results.stack(), [1, 0, 2]), [-1, 2 * units])
    rows = v1.get_variable("rows", initializer=normal(words, 2 * units))
    biases = v1.get_variable("biases", [words], initializer=v1.zeros_initializer())
    labels = tf.reshape(target[:, 1:], [-1, 1])
    sample = v1.nn.log_uniform_candidate_sampler(tf.cast(labels, tf.int64), 1, sampled, True, words, name="sampler")
    losses = tf.nn.sampled_softmax_loss(rows, biases, labels, hidden, sampled, words, sampled_values=sample)
    weights = tf.cast(tf.reshape(labels > 0, [-1]), tf.float32)
    loss = tf.identity(tf.reduce_sum(losses * weights) / (tf.reduce_sum(weights) + 1e-12), name="loss")
    number = v1.train.get_or_create_global_step()
    optimizer = optimizer(v1.train.exponential_decay(0.5, number, 5, 0.9))
    variables = v1.trainable_variables()
    gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    optimizer.apply_gradients(zip(gradients, variables), global_step=number, name="train")
    return loss, tf.identity(norm, name="norm")


def batch(rng, steps, words=40, count=5, sampled=7):
    """Feeds of a step, with what the sampler might return."""
    target = rng.integers(1, words, (count, 5))
    for row, length in enumerate(rng.integers(3, 6, count)):
        target[row, length:] = 0

    def expected(classes):
        share = np.log((classes + 2) / (classes + 1)) / np.log(words + 1)
        return (-np.expm1(tries * np.log1p(-share))).astype(np.float32)

    chosen, tries = [], 0
    while len(chosen) < sampled:
        number = int(np.exp(rng.random() * np.log(words + 1))) - 1
        tries += 1
        if number not in chosen:
            chosen.append(number)
    return {
        "source": rng.integers(1, words, (count, steps)).astype(np.int32),
        "lengths": rng.integers(2, steps + 1, count).astype(np.int32),
        "target": target.astype(np.int32),
        "sampler": np.array(chosen, np.int64),
        "sampler:1": expected(target[:, 1:].reshape(-1, 1).astype(np.float64)),
        "sampler:2": expected(np.array(chosen, np.float64)),
    }
