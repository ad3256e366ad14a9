"""record_functions.py FOLDER: records graphs whose library has functions in TensorFlow (2.21 for those that are stored):
calls, branches and loops inside each other, with variables, TensorLists, effects and gradients."""

import numpy as np
import tensorflow as tf
from recording import v1, write_case

v1.enable_control_flow_v2()
v1.enable_resource_variables()
rng = np.random.default_rng(0)
X = [rng.normal(size=(3, 4)).astype(np.float32) for _ in range(3)]


def calls(x, k):
    w = v1.get_variable("w", initializer=np.float32(rng.normal(size=(4, 4))))

    @tf.function(autograph=False)
    def twice(a, b):
        return a * 2.0 + b, tf.split(a, 2, axis=1)

    @tf.function(autograph=False)
    def outer(a):
        y, (left, right) = twice(tf.matmul(a, w), a)
        z, _ = twice(y, y)
        return z, right, tf.nn.top_k(left, 2).indices

    return outer(x), []


def branches(x, k):
    def nested(a):
        return tf.cond(tf.reduce_sum(a) > 0.0, lambda: a + 1.0, lambda: tf.cond(k > 2, lambda: a - 5.0, lambda: -a))

    chosen = tf.switch_case(k, [lambda: nested(x), lambda: x * 2.0, lambda: tf.zeros_like(x)], default=lambda: x / 3.0)
    number = tf.cond(k > 0, lambda: tf.constant(7.0), lambda: tf.reduce_max(x))
    pair = tf.cond(k > 1, lambda: (k, tf.exp(x)), lambda: (k + 10, x))
    return (chosen, number, *pair), []


def effects(x, k):
    total = v1.get_variable("total", initializer=np.zeros((3, 4), np.float32))
    count = v1.get_variable("count", initializer=np.int32(0))

    def add(i, a):
        with tf.control_dependencies([total.assign_add(a), count.assign_add(1)]):
            return i + 1, a * 0.5

    def often():
        i, _ = tf.while_loop(lambda i, a: i < k, add, (0, x))
        return tf.identity(i)

    def once():
        with tf.control_dependencies([total.assign(x)]):
            return tf.constant(-1)

    made = tf.cond(tf.reduce_sum(x) > 0.0, often, once)
    with tf.control_dependencies([made]):
        return (made, total.read_value(), count.read_value()), []


def repeated_effects(x, k):
    """Effects that an iteration has whatever it computes with: those of functions that it calls, and those on values, of
    branches and of loops that no iteration changes."""
    total = v1.get_variable("total", initializer=np.zeros((3, 4), np.float32))
    count = v1.get_variable("count", initializer=np.int32(0))

    @tf.function(autograph=False)
    def step(a):
        with tf.control_dependencies([count.assign_add(1)]):
            return a * 0.5

    def body(i, a):
        added = total.assign_add(x)
        chosen = tf.cond(k > 3, lambda: tf.identity(count.assign_add(10)), lambda: tf.identity(count.assign_add(100)))
        inner = tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, step(b)), (0, x))[1]
        with tf.control_dependencies([added, chosen, inner]):
            return i + 1, step(a)

    i, a = tf.while_loop(lambda i, a: i < k, body, (0, x))
    with tf.control_dependencies([a]):
        return (i, a, total.read_value(), count.read_value()), []


def loops(x, k):
    w = v1.get_variable("w", initializer=np.float32(rng.normal(size=(4, 4))))
    scanned = tf.map_fn(lambda row: tf.reduce_sum(row * row) + row, x)
    folded = tf.scan(lambda a, row: tf.tanh(tf.linalg.matvec(w, a) + row), x, initializer=tf.zeros([4]))

    def outer(i, a, written):
        _, inner = tf.while_loop(lambda j, b: (j < i) & (tf.reduce_max(b) < 50.0), lambda j, b: (j + 1, b * 1.5 + 0.25), (0, a))
        return i + 1, inner, written.write(i, tf.reduce_sum(inner))

    array = tf.TensorArray(tf.float32, 4, element_shape=[])
    i, a, array = tf.while_loop(lambda i, a, written: i < 4, outer, (0, x, array))
    unknown = tf.TensorArray(tf.float32, 3)
    for place in range(3):
        unknown = unknown.write(place, x[place])
    return (scanned, folded, i, a, array.stack(), unknown.stack(), unknown.read(1)), []


def shapes(x, k):
    """Branches whose conditions follow from shapes, with results of different types."""
    rows = tf.shape(x)[0]
    high = tf.cast(rows, tf.float32) / tf.cast(tf.shape(x)[1], tf.float32) > 1.0
    padded = tf.cond(high, lambda: tf.pad(x, [[0, 0], [0, rows - 4]]), lambda: tf.pad(x, [[0, 4 - rows], [0, 0]]))
    chosen = tf.switch_case(rows - 2, [lambda: x, lambda: x * 2, lambda: tf.ones([3])])
    loops = tf.cond(rows > 7, lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (0, x)),
                    lambda: tf.while_loop(lambda i, a: i < k, lambda i, a: (i + 1, a * 3), (0, x)))
    inside = tf.while_loop(lambda i, a: i < 3,
                           lambda i, a: (i + 1, tf.cond(tf.shape(a)[0] > 2, lambda: a * 2, lambda: a[:1] + a)), (0, x))
    nested = tf.cond(x[0, 0] > 0, lambda: x, lambda: tf.cond(rows > 7, lambda: x + 1, lambda: x - 1))
    slope = tf.gradients(tf.cond(rows > 2, lambda: x * x, lambda: x), x)
    return (padded, chosen, loops, inside, nested, slope, tf.math.is_non_decreasing(x), tf.image.rot90(x[:, :, None], 3),
            tf.math.invert_permutation(tf.argsort(x[0]))), []


def record(name, build, steps, feeds):
    graph = tf.Graph()
    with graph.as_default():
        x, k = v1.placeholder(tf.float32, [3, 4], name="x"), v1.placeholder(tf.int32, [], name="k")
        results, targets = build(x, k)
        fetches = [tf.identity(value, name=f"y{i}") for i, value in enumerate(tf.nest.flatten(results))]
        init = v1.global_variables_initializer()
    given = [{"x": X[number % len(X)], "k": np.int32(number)} for number in range(steps)]
    write_case(name, graph, [init.name], fetches, [{key: step[key] for key in feeds} for step in given], 1e-5)


record("function_calls", calls, 2, ["x"])
record("function_branches", branches, 5, ["x", "k"])
record("function_effects", effects, 5, ["x", "k"])
record("function_effects_repeated", repeated_effects, 5, ["x", "k"])
record("function_loops", loops, 2, ["x"])
record("function_shapes", shapes, 3, ["x", "k"])
