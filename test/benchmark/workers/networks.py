"""Networks for the peers, over a small adapter `ops` of each; models/*.graph are the same networks.

The weights are the variables of the compiled model, by its names. A loss is `NETWORKS[task](ops, weights, x, label)`.
"""

import math

import numpy as np
import protocol

# Task -> (shape and dtype of x, shape of label).
FEEDS = {
    "lenet": ((64, 28, 28, 1), np.float32, (64,)),
    "alexnet": ((16, 224, 224, 3), np.float32, (16,)),
    "lstm": ((35, 20), np.int32, (35, 20)),
    "gpt": ((8, 128), np.int32, (8, 128)),
    "resnet50": ((32, 224, 224, 3), np.float32, (32,)),
    "alexnet_owt": ((128, 224, 224, 3), np.float32, (128,)),
    "overfeat": ((128, 231, 231, 3), np.float32, (128,)),
    "vgg_a": ((64, 224, 224, 3), np.float32, (64,)),
    "googlenet": ((128, 224, 224, 3), np.float32, (128,)),
}


def load(task):
    """The weights by name, without the state of the optimizer; x and label."""
    weights = {
        name: value
        for name, value in protocol.variables(f"{task}.safetensors").items()
        if not name.startswith("opt.") and name != "random.calls" and not name.endswith((".average", ".variance"))
    }
    shape, dtype, labels = FEEDS[task]
    return weights, protocol.feed(task, "x", dtype, shape), protocol.feed(task, "label", np.int32, labels)


def lenet(ops, w, x, label):
    for name in "conv1", "conv2":
        x = ops.max_pool(ops.relu(ops.conv(x, w[name + ".w"], w[name + ".b"])))
    x = ops.relu(ops.reshape(x, (64, 3136)) @ w["hidden.w"] + w["hidden.b"])
    return ops.cross_entropy(x @ w["last.w"] + w["last.b"], label)


def lstm(ops, w, x, label):
    x = ops.take(w["table"], x)
    for name in "first", "second":

        def cell(carried, x_t, name=name):
            c, h = carried
            i, j, f, o = ops.split(
                ops.concat([x_t, h], 1) @ w[name + ".w"] + w[name + ".b"], 4, 1
            )
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(j)
            return c, ops.sigmoid(o) * ops.tanh(c)

        x = ops.scan(cell, x, (20, 512))
    scores = ops.reshape(x, (700, 512)) @ w["w"] + w["b"]
    return ops.cross_entropy(scores, ops.reshape(label, (700,)))


def _attention(ops, w, x, name):
    qkv = ops.split(x @ w[name + "qkv.w"] + w[name + "qkv.b"], 3, 2)
    q, k, v = (ops.transpose(ops.reshape(part, (8, 128, 6, 64)), (0, 2, 1, 3)) for part in qkv)
    score = ops.causal(q @ ops.transpose(k, (0, 1, 3, 2)) / math.sqrt(64))
    mix = ops.transpose(ops.softmax(score) @ v, (0, 2, 1, 3))
    return ops.reshape(mix, (8, 128, 384)) @ w[name + "out.w"] + w[name + "out.b"]


def gpt(ops, w, x, label):
    def norm(x, name):
        return ops.layer_norm(x, w[name + ".scale"], w[name + ".shift"])

    x = ops.take(w["table"], x) + w["place"]
    for i in range(6):
        name = f"stack.{i}."
        x = x + _attention(ops, w, norm(x, name + "norm1"), name + "attend.")
        up = ops.gelu(norm(x, name + "norm2") @ w[name + "up.w"] + w[name + "up.b"])
        x = x + up @ w[name + "down.w"] + w[name + "down.b"]
    scores = ops.reshape(norm(x, "norm"), (1024, 384)) @ ops.transpose(w["table"], (1, 0))
    return ops.cross_entropy(scores, ops.reshape(label, (1024,)))


def resnet50(ops, w, x, label):
    def unit(x, name, stride=1):
        y = ops.conv(x, w[name + ".w"], stride=stride)
        return ops.batch_norm(y, w[name + ".norm.scale"], w[name + ".norm.shift"])

    def bottleneck(x, name, stride):
        y = ops.relu(unit(x, name + ".narrow"))
        y = unit(ops.relu(unit(y, name + ".middle", stride)), name + ".wide")
        return ops.relu(y + (unit(x, name + ".shortcut", stride) if name + ".shortcut.w" in w else x))

    x = ops.max_pool(ops.relu(unit(x, "stem", 2)), 3, 1)
    for stage, blocks in enumerate((3, 4, 6, 3)):
        x = bottleneck(x, f"stages.{stage}.first", 1 if stage == 0 else 2)
        for block in range(blocks - 1):
            x = bottleneck(x, f"stages.{stage}.others.{block}", 1)
    return ops.cross_entropy(x.mean((1, 2)) @ w["last.w"] + w["last.b"], label)


def _unit(ops, w, x, name, **options):
    return ops.relu(ops.conv(x, w[name + ".w"], w[name + ".b"], **options))


def _classify(ops, w, x, label):
    x = ops.reshape(x, (len(label), -1))
    for name in "hidden.0", "hidden.1":
        x = ops.relu(x @ w[name + ".w"] + w[name + ".b"])
    return ops.cross_entropy(x @ w["last.w"] + w["last.b"], label)


def alexnet(ops, w, x, label):
    x = ops.max_pool(_unit(ops, w, x, "conv1", stride=4, pads=2), 3)
    x = ops.max_pool(_unit(ops, w, x, "conv2"), 3)
    for name in "conv3", "conv4", "conv5":
        x = _unit(ops, w, x, name)
    return _classify(ops, w, ops.max_pool(x, 3), label)


def overfeat(ops, w, x, label):
    x = ops.max_pool(_unit(ops, w, x, "conv1", stride=4, pads=0))
    x = ops.max_pool(_unit(ops, w, x, "conv2", pads=0))
    for name in "conv3", "conv4", "conv5":
        x = _unit(ops, w, x, name)
    return _classify(ops, w, ops.max_pool(x), label)


def vgg_a(ops, w, x, label):
    for stage, layers in enumerate((1, 1, 2, 2, 2)):
        for layer in range(layers):
            x = _unit(ops, w, x, f"stages.{stage}.layers.{layer}")
        x = ops.max_pool(x)
    return _classify(ops, w, x, label)


def googlenet(ops, w, x, label):
    def unit(x, name, stride=1):
        return _unit(ops, w, x, name + ".conv", stride=stride)

    def inception(x, name):
        three = unit(unit(x, name + ".before3"), name + ".three")
        five = unit(unit(x, name + ".before5"), name + ".five")
        pooled = unit(ops.max_pool(x, 3, 1, stride=1), name + ".after")
        return ops.concat([unit(x, name + ".one"), three, five, pooled], 3)

    x = ops.max_pool(unit(x, "stem", 2), 3, ceil=True)
    x = unit(unit(x, "second"), "third")
    for stage, blocks in enumerate((2, 5, 2)):
        x = ops.max_pool(x, 3, ceil=True)
        for block in range(blocks):
            x = inception(x, f"stages.{stage}.{block}")
    return ops.cross_entropy(x.mean((1, 2)) @ w["last.w"] + w["last.b"], label)


NETWORKS = {
    "lenet": lenet,
    "lstm": lstm,
    "gpt": gpt,
    "resnet50": resnet50,
    "alexnet": alexnet,
    "alexnet_owt": alexnet,
    "overfeat": overfeat,
    "vgg_a": vgg_a,
    "googlenet": googlenet,
}
