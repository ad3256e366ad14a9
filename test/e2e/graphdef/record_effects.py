"""record_effects.py FOLDER: records random programs whose effects are in functions, branches and loops inside each other in
TensorFlow (2.21 for those that are stored), whose automatic control dependencies order the effects."""

import random

import numpy as np
import tensorflow as tf
from recording import v1, write_case

v1.enable_control_flow_v2()
v1.enable_resource_variables()
DEEPEST = 4


class Program:
    def __init__(self, seed):
        self.random, self.depth, self.left = random.Random(seed), 0, 24
        self.counts = [v1.get_variable(f"count{i}", initializer=np.int32(i)) for i in range(3)]
        self.pairs = [v1.get_variable(f"pair{i}", initializer=np.float32([i, 1])) for i in range(2)]

    def count(self):
        return self.random.choice(self.counts)

    def condition(self, x, k):
        return self.random.choice([lambda: k > self.random.randint(0, 4), lambda: tf.reduce_sum(x) > 0.0,
                                   lambda: tf.equal(self.count().read_value() % 2, 0), lambda: tf.equal(k % 2, 1)])()

    def effect(self, x, k):
        count, pair, place = self.count(), self.random.choice(self.pairs), self.random.randrange(2)
        self.random.choice([
            lambda: count.assign_add(1), lambda: count.assign_add(k), lambda: count.assign_sub(2),
            lambda: count.assign(self.count().read_value() + self.random.randint(1, 3)),
            lambda: pair.assign_add(x), lambda: pair.assign(pair.read_value() * 0.5 + 1.0),
            lambda: pair[place].assign(tf.cast(count.read_value(), tf.float32)),
            lambda: pair.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([place])))])()

    def block(self, x, k, most):
        """Returns x after up to so many statements."""
        for _ in range(most):
            self.left -= 1
            kind = self.random.randrange(10)
            if self.left < 0:
                break
            if self.depth == DEEPEST or kind < 4:
                self.effect(x, k)
            elif kind == 4:
                x = x * 0.5 + tf.cast(self.count().read_value(), tf.float32) * 0.1
            else:
                self.depth += 1
                x = self.random.choice([self.branch, self.case, self.call, self.loop])(x, k)
                self.depth -= 1
        return x

    def inner(self, body):
        """A function that is the same whenever TensorFlow traces it, and no longer the more there are."""
        seed = self.random.random()

        def traced(*arguments):
            outer, self.random = self.random, random.Random(seed)
            left, self.left = self.left, 8
            result = body(*arguments)
            self.random, self.left = outer, left
            return result

        return traced

    def branch(self, x, k):
        return tf.cond(self.condition(x, k), self.inner(lambda: self.block(x, k, 3)), self.inner(lambda: self.block(x, k, 2)))

    def case(self, x, k):
        return tf.switch_case(k % 3, [self.inner(lambda: self.block(x, k, 2)) for _ in range(3)])

    def call(self, x, k):
        if self.random.randrange(2):
            return tf.function(self.inner(lambda: self.block(x, k, 3)), autograph=False)()
        function = tf.function(self.inner(lambda x, k: self.block(x, k, 3)), autograph=False)
        return function(function(x, k) * 2.0, k)

    def loop(self, x, k):
        """The body computes with what the loop changes, or only with what it does not."""
        if self.random.randrange(2):
            body = self.inner(lambda i, a: self.block(a, i, 3))
            return tf.while_loop(lambda i, a: i < k, lambda i, a: (i + 1, body(i, a)), (0, x))[1]
        body = self.inner(lambda: self.block(x, k, 3))

        def step(i):
            body()
            return (i + 1,)

        tf.while_loop(lambda i: i < k, step, (0,))
        return x

    def run(self, x, k):
        y = self.block(x, k, 6)
        return y, [variable.read_value() for variable in self.counts + self.pairs]


def record(seed):
    graph = tf.Graph()
    with graph.as_default():
        x, k = v1.placeholder(tf.float32, [2], name="x"), v1.placeholder(tf.int32, [], name="k")
        program = Program(seed)
        results = tf.function(program.inner(program.run), autograph=False)(x, k)
        fetches = [tf.identity(value, name=f"y{i}") for i, value in enumerate(tf.nest.flatten(results))]
        init = v1.global_variables_initializer()
    rng = np.random.default_rng(seed)
    feeds = [{"x": rng.normal(size=2).astype(np.float32), "k": np.int32(k)} for k in range(5)]
    write_case(f"random_effects_{seed}", graph, [init.name], fetches, feeds, 1e-4, compressed=True)


# For some seeds, among them 2, 17 and 28, a session has other values than the same function outside of one.
for seed in 18, 20, 24, 27:
    record(seed)
