"""record_programs.py FOLDER [CASE ...]: records programs of TensorFlow 1 (2.21 for those that are stored) that train, with
variables by reference and as resources."""

import sys

import numpy as np
import tensorflow as tf
from programs import inception, seq2seq
from recording import v1, write_case

v1.disable_v2_behavior()


def optimizers(step):
    momentum = {"momentum": 0.9, "learning_rate": 0.1}
    pull = {"l1_regularization_strength": 0.01, "l2_regularization_strength": 0.01}
    return {
        "descent": v1.train.GradientDescentOptimizer(0.1),
        "momentum": v1.train.MomentumOptimizer(**momentum),
        "nesterov": v1.train.MomentumOptimizer(**momentum, use_nesterov=True),
        "adam": v1.train.AdamOptimizer(0.05),
        "adagrad": v1.train.AdagradOptimizer(0.1),
        "adagrad_da": v1.train.AdagradDAOptimizer(0.1, step, l1_regularization_strength=0.001),
        "adadelta": v1.train.AdadeltaOptimizer(1.0),
        "rms_prop": v1.train.RMSPropOptimizer(0.01, momentum=0.5),
        "centered": v1.train.RMSPropOptimizer(0.01, centered=True),
        "ftrl": v1.train.FtrlOptimizer(0.1, **pull),
        "ftrl_shrinking": v1.train.FtrlOptimizer(0.1, **pull, l2_shrinkage_regularization_strength=0.02),
        "proximal": v1.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.01),
        "proximal_adagrad": v1.train.ProximalAdagradOptimizer(0.1, **pull),
    }


def record(name, resources, build, tolerance=1e-4, compressed=False):
    """`build` returns the fetches of a step and the feeds of all; its target is `train`."""
    (v1.enable_resource_variables if resources else v1.disable_resource_variables)()
    if sys.argv[2:] and name not in sys.argv[2:]:
        return
    graph = tf.Graph()
    with graph.as_default():
        fetches, steps, last = build(np.random.default_rng(5))
        last = [tf.identity(variable, name=f"last/{variable.op.name}") for variable in last]
        init = v1.global_variables_initializer()
    write_case(name, graph, [init.name], fetches, steps, tolerance, ["train"], last, compressed)


def build_optimizers(rng):
    """A dense and a sparse gradient for each optimizer; rows of a table occur several times in a batch."""
    x, ids = v1.placeholder(tf.float32, [None, 6], "x"), v1.placeholder(tf.int32, [None, 3], "ids")
    step = v1.train.get_or_create_global_step()
    trained, losses = [], []
    weight, table = rng.normal(size=(6, 4)).astype(np.float32), rng.normal(size=(10, 4)).astype(np.float32)
    for name, optimizer in optimizers(step).items():
        with v1.variable_scope(name):
            w, rows = v1.get_variable("w", initializer=weight), v1.get_variable("rows", initializer=table)
            found = tf.reduce_mean(tf.nn.embedding_lookup(rows, ids), 1) + tf.nn.embedding_lookup(rows, ids[:, 0])
            losses.append(tf.reduce_mean(tf.math.squared_difference(tf.matmul(x, w), found), name="loss"))
            trained.append(optimizer.minimize(losses[-1]))
    with tf.control_dependencies(trained):
        counted = v1.assign_add(step, 1)
    tf.group(counted, name="train")
    feeds = [{"x": rng.normal(size=(5, 6)).astype(np.float32), "ids": rng.integers(0, 10, (5, 3)).astype(np.int32)}
             for _ in range(6)]  # fmt: skip
    return losses, feeds, v1.global_variables()


def build_averages(rng):
    """Moving averages after a step, which read the variables that it has changed, and schedules of rates."""
    x = v1.placeholder(tf.float32, [None, 6], "x")
    w = v1.get_variable("w", initializer=rng.normal(size=(6, 1)).astype(np.float32))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0), name="loss")
    step = v1.train.get_or_create_global_step()
    rates = [
        v1.train.exponential_decay(0.1, step, 2, 0.9, staircase=True, name="exponential"),
        v1.train.piecewise_constant(step, [1, 3], [0.1, 0.05, 0.01], name="piecewise"),
        v1.train.polynomial_decay(0.1, step, 3, 0.001, power=2.0, cycle=True, name="polynomial"),
        v1.train.inverse_time_decay(0.1, step, 2, 0.5, name="inverse"),
        v1.train.cosine_decay_restarts(0.1, step, 2, name="cosine"),
    ]
    trained = v1.train.MomentumOptimizer(rates[0], 0.9).minimize(loss, global_step=step)
    averages = v1.train.ExponentialMovingAverage(0.9, step)
    with tf.control_dependencies([trained]):
        averaged = averages.apply([w])
    with tf.control_dependencies([averaged]):
        tf.no_op(name="train")
    feeds = [{"x": rng.normal(size=(5, 6)).astype(np.float32)} for _ in range(6)]
    return [loss, *(tf.identity(rate, name=f"rate_{i}") for i, rate in enumerate(rates))], feeds, v1.global_variables()


def build_flows(rng):
    """Gradients through branches and loops that read variables, selections and partitions."""
    x, k = v1.placeholder(tf.float32, [None, 4], "x"), v1.placeholder(tf.int32, [], "k")
    w, v = (v1.get_variable(name, initializer=rng.normal(size=(4, 4)).astype(np.float32)) for name in "wv")
    rows = v1.get_variable("rows", initializer=rng.normal(size=(6, 4)).astype(np.float32))
    kernel = v1.get_variable("kernel", initializer=rng.normal(size=(1, 1, 1, 3)).astype(np.float32))
    h = tf.matmul(x, w)

    def step(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: tf.tanh(tf.matmul(a, v)), lambda: a * 0.5)

    parts = tf.dynamic_partition(x, tf.cast(x[:, 0] > 0, tf.int32), 2)
    places = tf.dynamic_partition(tf.range(tf.shape(h)[0]), tf.cast(x[:, 0] > 0, tf.int32), 2)
    image = v1.nn.conv2d(tf.reshape(h, [1, -1, 4, 1]), kernel, [1, 1, 1, 1], "SAME")
    values = {
        "branch": tf.cond(k > 1, lambda: tf.matmul(h, v), lambda: h * 2.0),
        "loop": tf.while_loop(lambda i, a: i < k, step, [0, h])[1],
        "mask": tf.boolean_mask(h, x[:, 1] > 0),
        "partition": tf.matmul(parts[0], w),
        "stitch": h + tf.dynamic_stitch(places, parts),
        "unique": tf.gather(rows, tf.unique(tf.cast(x[:, 2] > 0, tf.int32) + k)[0]),
        "pool": tf.nn.max_pool_with_argmax(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")[0],
        "product": tf.reduce_prod(tf.reshape(h, [-1, 2, 2]), [1]),
        "slice": tf.slice(image, [0, 1, 1, 0], [-1, -1, 2, 2]),
    }
    losses = [tf.reduce_sum(tf.square(value - 0.3), name=name) for name, value in values.items()]
    v1.train.GradientDescentOptimizer(0.01).minimize(tf.add_n(losses), name="train")
    x_values = [rng.normal(size=(3, 4)).astype(np.float32) for _ in range(4)]
    return losses, [{"x": x, "k": np.array(i, np.int32)} for i, x in enumerate(x_values)], v1.global_variables()


def build_inception(rng):
    size, count = 75, 16
    images, labels = v1.placeholder(tf.float32, [None, size, size, 3], "x"), v1.placeholder(tf.int32, [None], "label")
    loss = inception.Inception(rng, width=1 / 16, classes=10, short=True, decay=0.9).train(images, labels, 2e-5)
    # Few levels, which compress well.
    feeds = [{"x": (rng.integers(-2, 3, (count, size, size, 3)) / 2).astype(np.float32),
              "label": rng.integers(0, 10, count).astype(np.int32)} for _ in range(2)]  # fmt: skip
    # The rate is low because rounding errors grow fast: with 1e-3, noise of 1e-7 in the images changes losses by 0.1.
    shown = ("Conv2d_1a/", "Mixed_6b/Branch_2/Conv_4/")
    last = [v for v in v1.global_variables() if v.op.name.startswith(shown) and "RMSProp" not in v.op.name]
    return [loss], feeds * 10, last


def build_translation(optimizer):
    def build(rng):
        fetches = seq2seq.train(rng, optimizer)
        return fetches, [seq2seq.batch(rng, 6 + i % 2) for i in range(20)], v1.global_variables()

    return build


for resources, suffix in [(False, "references"), (True, "resources")]:
    record(f"optimizers_{suffix}", resources, build_optimizers, compressed=True)
    record(f"averages_{suffix}", resources, build_averages)
    record(f"flows_{suffix}", resources, build_flows, compressed=True)
record("inception", False, build_inception, compressed=True)
record("translation", False, build_translation(v1.train.AdagradOptimizer), compressed=True)
record("translation_adam", True, build_translation(lambda rate: v1.train.AdamOptimizer(rate / 10)), compressed=True)
