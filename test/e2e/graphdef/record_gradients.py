"""record_gradients.py FOLDER: records the training of graphs whose gradients pass through the loops and branches of
TensorFlow 2 (2.21 for those that are stored): values of the forward pass are kept in TensorLists and in optional values."""

import keras
import numpy as np
import tensorflow as tf
from recording import v1, write_case

v1.enable_control_flow_v2()
v1.enable_resource_variables()
rng = np.random.default_rng(0)
STEPS = 20
X = [rng.normal(size=(3, 5, 2)).astype(np.float32) for _ in range(4)]
MASKS = [np.arange(5)[None] < rng.integers(1, 6, size=(3, 1)) for _ in X]
FEEDS = {"x": X, "mask": MASKS, "ids": [rng.integers(0, 10, size=6).astype(np.int32) for _ in X]}
ROWS = [[0, 0], [0, 2]]


def rnn(x, w, u, b):
    written = tf.TensorArray(tf.float32, size=5, element_shape=None)

    def body(t, h, written):
        h = tf.tanh(tf.matmul(x[:, t], w) + tf.matmul(h, u) + b)
        return t + 1, h, written.write(t, h)

    _, h, written = tf.while_loop(lambda t, h, written: t < 5, body, (0, tf.zeros([tf.shape(x)[0], 4]), written))
    return tf.reduce_mean(tf.square(written.stack() - 0.3)) + tf.reduce_sum(h * h) * 0.01


def branches(x, w, b):
    h = tf.matmul(x[:, 0], w)
    h = tf.cond(tf.reduce_sum(h) > 0.0, lambda: tf.tanh(h) * b, lambda: tf.square(h) - tf.exp(b) * h)
    k = tf.math.floormod(tf.cast(tf.reduce_sum(x) * 3, tf.int32), 3)
    h = tf.switch_case(k, [lambda: tf.tanh(h) * b, lambda: tf.square(h) - tf.exp(b) * h, lambda: h * h * h])
    return tf.reduce_mean(tf.square(h - 1.0))


def branches_in_loop(x, w, b):
    def body(i, h):
        return i + 1, tf.cond(
            tf.reduce_sum(h) > 0.0, lambda: tf.tanh(tf.matmul(h, w)) * b, lambda: tf.square(h) - tf.exp(b) * h
        )

    go_on = lambda i, h: (i < 6) & (tf.reduce_max(h) < 10.0)
    _, h = tf.while_loop(go_on, body, (0, tf.pad(x[:, 0], ROWS)))
    return tf.reduce_mean(tf.square(h - 1.0))


def loops_in_loop(x, w, b):
    def outer(i, h):
        step = lambda j, a: (j + 1, tf.tanh(tf.matmul(a, w) + b))
        _, h = tf.while_loop(lambda j, a: j <= i, step, (0, h))
        return i + 1, h * 0.9 + tf.square(h) * 0.1

    _, h = tf.while_loop(lambda i, h: i < 4, outer, (0, tf.pad(x[:, 0], ROWS)))
    return tf.reduce_mean(tf.square(h - 1.0))


def loops_in_branches(x, w, b):
    """Lists of lists of optional lists."""

    def outer(i, h):
        step = lambda j, a: (j + 1, tf.tanh(tf.matmul(a, w) + b))
        inner = lambda: tf.while_loop(lambda j, a: j < 3, step, (0, h))[1]
        return i + 1, tf.cond(tf.reduce_sum(h) > 0.0, inner, lambda: h * h - b)

    _, h = tf.while_loop(lambda i, h: i < 4, outer, (0, tf.pad(x[:, 0], ROWS)))
    return tf.reduce_mean(tf.square(h - 1.0))


def second_gradients(x, w, b):
    h = tf.pad(x[:, 0], ROWS)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(h)
        _, y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.tanh(tf.matmul(a, w) + b)), (0, h))
        p, q = tf.reduce_sum(tf.square(y)), tf.reduce_sum(y * y * y)
    return tf.reduce_mean(tape.gradient(p, h) * tape.gradient(q, h)) + 0.1 * p


def three_loops(x, w, b):
    def loop(depth, h):
        if depth == 0:
            return tf.tanh(tf.matmul(h, w) + b)
        _, h = tf.while_loop(lambda i, h: i < 2, lambda i, h: (i + 1, loop(depth - 1, h)), (0, h))
        return h * 0.9 + tf.square(h) * 0.1

    return tf.reduce_mean(tf.square(loop(3, tf.pad(x[:, 0], ROWS)) - 1.0))


def sharded(strategy):
    def loss(ids, a, b, w):
        rows = v1.nn.embedding_lookup([a, b], ids, partition_strategy=strategy)
        return tf.reduce_mean(tf.square(tf.matmul(rows, w) - 1.0))

    return loss


def lookups_in_loop(ids, e, w):
    step = lambda t, h: (t + 1, tf.tanh(tf.linalg.matvec(w, h) + tf.nn.embedding_lookup(e, ids[t])))
    _, h = tf.while_loop(lambda t, h: t < 6, step, (0, tf.zeros([4])))
    return tf.reduce_mean(tf.square(h - 1.0))


def layer(kind, **options):
    made = getattr(keras.layers, kind)(4, **options)
    made.build((3, 5, 2))
    rest = [variable.numpy() for variable in made.non_trainable_variables]
    shapes = [tuple(variable.shape) for variable in made.trainable_variables]

    def loss(x, mask, *weights):
        y, _ = made.stateless_call(list(weights), rest, x, mask=mask)
        return tf.reduce_mean(tf.square(y - 0.3))

    return loss, shapes


def record(name, loss_of, shapes, feeds=("x",), in_function=True):
    """Trains in a function with a tape, or in the graph itself."""
    with tf.Graph().as_default() as graph:
        given = [v1.placeholder(FEEDS[key][0].dtype, FEEDS[key][0].shape, name=key) for key in feeds]
        variables = [
            v1.get_variable(f"v{i}", initializer=np.float32(rng.normal(size=shape) * 0.5)) for i, shape in enumerate(shapes)
        ]

        @tf.function(autograph=False)
        def with_tape(*given):
            with tf.GradientTape() as tape:
                loss = loss_of(*given, *variables)
            return loss, tape.gradient(loss, variables)

        if in_function:
            loss, gradients = with_tape(*given)
        else:
            loss = loss_of(*given, *variables)
            gradients = tf.gradients(loss, variables)
        loss = tf.identity(loss, name="loss")
        with tf.control_dependencies([loss]):
            step = v1.train.AdamOptimizer(0.02).apply_gradients(zip(gradients, variables), name="step")
        init = v1.global_variables_initializer()
    steps = [{key: FEEDS[key][i % 4] for key in feeds} for i in range(STEPS)]
    write_case(name, graph, [init.name], [loss], steps, 1e-4, targets=[step.name])


record("gradients_branches", branches, [(2, 4), (4,)])
record("gradients_branches_in_loop", branches_in_loop, [(4, 4), (4,)])
record("gradients_loops_in_loop", loops_in_loop, [(4, 4), (4,)])
record("gradients_loops_in_branches", loops_in_branches, [(4, 4), (4,)])
record("gradients_rnn", rnn, [(2, 4), (4, 4), (4,)], in_function=False)
record("gradients_second", second_gradients, [(4, 4), (4,)])
record("gradients_three_loops", three_loops, [(4, 4), (4,)])
record("gradients_lstm", *layer("LSTM"), feeds=("x", "mask"))
record("gradients_gru", *layer("GRU", return_sequences=True, go_backwards=True), feeds=("x", "mask"), in_function=False)
record("gradients_lookups", lookups_in_loop, [(10, 4), (4, 4)], feeds=("ids",))
record("gradients_shards_div", sharded("div"), [(5, 4), (5, 4), (4, 2)], feeds=("ids",), in_function=False)
record("gradients_shards_mod", sharded("mod"), [(5, 4), (5, 4), (4, 2)], feeds=("ids",))
