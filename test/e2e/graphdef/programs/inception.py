"""Inception-v3 as programs of TensorFlow 1 write it: variables by scope, batch normalisation with updates of its running
statistics, an auxiliary head, label smoothing, weight decay, RMSProp with a decaying rate, and moving averages."""

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


class Inception:
    """`width` scales the numbers of channels; the short form has one block of each kind."""

    def __init__(self, rng, width=1.0, classes=1000, short=False, decay=0.9997):
        self.rng, self.width, self.classes, self.short, self.decay = rng, width, classes, short, decay

    def weights(self, shape):
        """Multiples of a small number, which compress well."""
        value = self.rng.normal(size=shape) * np.sqrt(2 / np.prod(shape[:-1]))
        kernel = v1.get_variable("weights", initializer=(np.round(value * 16384) / 16384).astype(np.float32))
        v1.add_to_collection(v1.GraphKeys.REGULARIZATION_LOSSES, tf.multiply(tf.nn.l2_loss(kernel), 4e-5))
        return kernel

    def conv(self, x, depth, size, stride=1, padding="SAME", name="Conv"):
        height, width = (size, size) if isinstance(size, int) else size
        depth = max(int(depth * self.width), 2)
        with v1.variable_scope(name):
            kernel = self.weights([height, width, int(x.shape[-1]), depth])
            x = v1.nn.conv2d(x, kernel, [1, stride, stride, 1], padding)
            beta = v1.get_variable("beta", [depth], initializer=v1.zeros_initializer())
            y, mean, variance = v1.nn.fused_batch_norm(x, tf.ones([depth]), beta, epsilon=1e-3, is_training=True)[:3]
            for name, initial, value in [("mean", v1.zeros_initializer(), mean), ("variance", v1.ones_initializer(), variance)]:
                running = v1.get_variable(f"moving_{name}", [depth], initializer=initial, trainable=False)
                update = v1.assign_sub(running, (running - value) * (1 - self.decay))
                v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, update)
            return tf.nn.relu(y)

    def pool(self, x, kind, size=3, stride=1, padding="SAME"):
        return getattr(v1.nn, f"{kind}_pool")(x, [1, size, size, 1], [1, stride, stride, 1], padding)

    def chain(self, x, *layers):
        for number, layer in enumerate(layers):
            x = self.conv(x, *layer, name=f"Conv_{number}")
        return x

    def block(self, x, name, *branches):
        results = []
        with v1.variable_scope(name):
            for number, branch in enumerate(branches):
                with v1.variable_scope(f"Branch_{number}"):
                    results.append(branch(x))
            return tf.concat(results, 3)

    def square(self, x, name, pooled):
        return self.block(
            x, name,
            lambda x: self.chain(x, (64, 1)),
            lambda x: self.chain(x, (48, 1), (64, 5)),
            lambda x: self.chain(x, (64, 1), (96, 3), (96, 3)),
            lambda x: self.chain(self.pool(x, "avg"), (pooled, 1)))  # fmt: skip

    def factored(self, x, name, depth):
        return self.block(
            x, name,
            lambda x: self.chain(x, (192, 1)),
            lambda x: self.chain(x, (depth, 1), (depth, (1, 7)), (192, (7, 1))),
            lambda x: self.chain(x, (depth, 1), (depth, (7, 1)), (depth, (1, 7)), (depth, (7, 1)), (192, (1, 7))),
            lambda x: self.chain(self.pool(x, "avg"), (192, 1)))  # fmt: skip

    def forked(self, x, name):
        def fork(x):
            return tf.concat([self.conv(x, 384, (1, 3), name="Row"), self.conv(x, 384, (3, 1), name="Column")], 3)

        return self.block(
            x, name,
            lambda x: self.chain(x, (320, 1)),
            lambda x: fork(self.chain(x, (384, 1))),
            lambda x: fork(self.chain(x, (448, 1), (384, 3))),
            lambda x: self.chain(self.pool(x, "avg"), (192, 1)))  # fmt: skip

    def classify(self, x):
        with v1.variable_scope("Logits"):
            kernel = self.weights([1, 1, int(x.shape[-1]), self.classes])
            bias = v1.get_variable("biases", [self.classes], initializer=v1.zeros_initializer())
            return tf.squeeze(tf.nn.bias_add(v1.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"), bias), [1, 2])

    def logits(self, x):
        x = self.conv(x, 32, 3, 2, "VALID", "Conv2d_1a")
        x = self.conv(x, 32, 3, 1, "VALID", "Conv2d_2a")
        x = self.conv(x, 64, 3, 1, "SAME", "Conv2d_2b")
        x = self.pool(x, "max", 3, 2, "VALID")
        x = self.conv(x, 80, 1, 1, "VALID", "Conv2d_3b")
        x = self.conv(x, 192, 3, 1, "VALID", "Conv2d_4a")
        x = self.pool(x, "max", 3, 2, "VALID")
        for name, pooled in [("Mixed_5b", 32), ("Mixed_5c", 64), ("Mixed_5d", 64)][: 1 if self.short else 3]:
            x = self.square(x, name, pooled)
        x = self.block(
            x, "Mixed_6a",
            lambda x: self.chain(x, (384, 3, 2, "VALID")),
            lambda x: self.chain(x, (64, 1), (96, 3), (96, 3, 2, "VALID")),
            lambda x: self.pool(x, "max", 3, 2, "VALID"))  # fmt: skip
        depths = [("Mixed_6b", 128), ("Mixed_6c", 160), ("Mixed_6d", 160), ("Mixed_6e", 192)]
        for name, depth in depths[: 1 if self.short else 4]:
            x = self.factored(x, name, depth)
        with v1.variable_scope("AuxLogits"):
            side = self.pool(x, "avg", min(5, int(x.shape[1])), 3, "VALID")
            side = self.conv(side, 128, 1, name="Conv_1")
            side = self.conv(side, 768, (int(side.shape[1]), int(side.shape[2])), 1, "VALID", "Conv_2")
            side = self.classify(side)
        x = self.block(
            x, "Mixed_7a",
            lambda x: self.chain(x, (192, 1), (320, 3, 2, "VALID")),
            lambda x: self.chain(x, (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, "VALID")),
            lambda x: self.pool(x, "max", 3, 2, "VALID"))  # fmt: skip
        for name in ["Mixed_7b", "Mixed_7c"][: 1 if self.short else 2]:
            x = self.forked(x, name)
        x = v1.nn.dropout(self.pool(x, "avg", int(x.shape[1]), 1, "VALID"), keep_prob=1.0)
        return self.classify(x), side

    def train(self, images, labels, rate):
        """The operations of a step: `loss` and `train`."""
        logits, side = self.logits(images)
        wanted = tf.one_hot(labels, self.classes)
        v1.losses.softmax_cross_entropy(wanted, logits, label_smoothing=0.1)
        v1.losses.softmax_cross_entropy(wanted, side, label_smoothing=0.1, weights=0.4)
        loss = tf.identity(v1.losses.get_total_loss(), name="loss")
        step = v1.train.get_or_create_global_step()
        rate = v1.train.exponential_decay(rate, step, 4, 0.94, staircase=True)
        optimizer = v1.train.RMSPropOptimizer(rate, decay=0.9, momentum=0.9, epsilon=1.0)
        updates = [optimizer.minimize(loss, global_step=step), *v1.get_collection(v1.GraphKeys.UPDATE_OPS)]
        averages = v1.train.ExponentialMovingAverage(0.9999, step)
        with tf.control_dependencies(updates):
            averaged = averages.apply(v1.trainable_variables())
        with tf.control_dependencies([averaged]):
            tf.no_op(name="train")
        return loss
