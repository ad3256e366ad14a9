"""record_training.py FOLDER: records six training steps of a convolutional network in TensorFlow (2.21 for those that are
stored), with batch and local response normalisation and Adam, and then its outputs with the running statistics."""

import json
import pathlib
import sys

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
rng = np.random.default_rng(0)
graph = tf.Graph()


def variable(name, value, **options):
    return v1.get_variable(name, initializer=np.float32(value), use_resource=True, **options)


with graph.as_default():
    x = v1.placeholder(tf.float32, [None, 8, 8, 1], name="x")
    label = v1.placeholder(tf.int32, [None], name="label")
    first = variable("first", rng.normal(size=(3, 3, 1, 8)) * 0.3)
    second = variable("second", rng.normal(size=(3, 3, 8, 16)) * 0.1)
    scale, offset = variable("scale", np.ones(8)), variable("offset", np.zeros(8))
    mean = variable("mean", np.zeros(8), trainable=False)
    variance = variable("variance", np.ones(8), trainable=False)
    weight, bias = variable("weight", rng.normal(size=(64, 10)) * 0.1), variable("bias", np.zeros(10))

    h = tf.nn.conv2d(x, first, 1, "SAME")
    y, batch_mean, batch_variance = v1.nn.fused_batch_norm(h, scale, offset, epsilon=1e-3, is_training=True)[:3]
    h = tf.nn.max_pool2d(tf.nn.relu(y), 2, 2, "SAME")
    h = tf.nn.local_response_normalization(tf.nn.relu(tf.nn.conv2d(h, second, 2, "SAME")), depth_radius=2)
    logits = tf.matmul(tf.reshape(h, [-1, 64]), weight) + bias
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits)
    loss = tf.reduce_mean(losses, name="loss")
    moved = [v1.assign_sub(mean, (mean - batch_mean) * 0.1), v1.assign_sub(variance, (variance - batch_variance) * 0.1)]
    with tf.control_dependencies(moved):
        train = v1.train.AdamOptimizer(0.01).minimize(loss, name="train")
    h = tf.nn.conv2d(x, first, 1, "SAME")
    y = v1.nn.fused_batch_norm(h, scale, offset, mean=mean, variance=variance, epsilon=1e-3, is_training=False)[0]
    running = tf.reduce_mean(y, [1, 2], name="running")
    init = v1.global_variables_initializer()

folder = pathlib.Path(sys.argv[1]) / "training"
folder.mkdir(parents=True, exist_ok=True)
(folder / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
steps, recorded = [], {}


def add_step(feeds, fetches, targets):
    number = len(steps)
    step = {"feeds": {}, "fetches": {}, "targets": targets, "rtol": 1e-4, "atol": 1e-4}
    for kind, suffix, arrays in [("feeds", "", feeds), ("fetches", ".expected", fetches)]:
        for name, value in arrays.items():
            step[kind][f"{name}:0"] = f"{number}.{name}{suffix}"
            recorded[f"{number}.{name}{suffix}"] = value
    steps.append(step)


with v1.Session(graph=graph) as session:
    session.run(init)
    for _ in range(6):
        images, labels = rng.normal(size=(16, 8, 8, 1)).astype(np.float32), rng.integers(0, 10, 16).astype(np.int32)
        value, _ = session.run([loss, train], {x: images, label: labels})
        add_step({"x": images, "label": labels}, {"loss": value}, ["train"])
    add_step({"x": images}, {"running": session.run(running, {x: images})}, [])
np.savez_compressed(folder / "arrays.npz", **recorded)
case = {"init": [init.name], "arrays": "arrays.npz", "steps": steps}
(folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
