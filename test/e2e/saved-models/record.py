"""Saves models with TensorFlow, and the values of their signatures: record.py FOLDER.

Each model is a SavedModel in a folder of its own, with a case of steps that were called one after the other. TensorFlow 2.21
wrote those in this folder.
"""

import json
import os
import pathlib
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
RANDOM = np.random.RandomState(7)


def draw(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def write_case(folder, steps):
    """`steps` are signatures, feeds and expected fetches."""
    arrays, case = {}, {"arrays": "arrays.npz", "steps": []}
    for i, (entry, feeds, fetches) in enumerate(steps):
        step = {"entry": entry, "feeds": {}, "fetches": {}, "rtol": 1e-5, "atol": 1e-6}
        for kind, values in (("feeds", feeds), ("fetches", fetches)):
            for name, value in values.items():
                key = f"{i}.{name}" + (".expected" if kind == "fetches" else "")
                step[kind][name], arrays[key] = key, np.asarray(value)
        case["steps"].append(step)
    np.savez_compressed(folder / "arrays.npz", **arrays)
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


def write_module(folder, module, signatures, calls, **options):
    """Records calls of the saved signatures, in TensorFlow's own copy of the model."""
    tf.saved_model.save(module, str(folder), signatures=signatures, **options)
    loaded = tf.saved_model.load(str(folder)).signatures
    steps = []
    for name, feeds in calls:
        values = loaded[name](**{key: tf.constant(value) for key, value in feeds.items()})
        steps.append((name, feeds, {key: value.numpy() for key, value in values.items()}))
    write_case(folder, steps)


class Trained(tf.Module):
    """A network whose signature `train` changes the variables that `infer` reads; both variables have the name `w`."""

    def __init__(self):
        self.kernel = tf.Variable(draw(3, 4), name="w")
        self.bias = tf.Variable(draw(4), name="w")
        self.scale = tf.Variable(draw(4), name="scale", trainable=False)
        self.steps = tf.Variable(0, dtype=tf.int64, name="steps", trainable=False)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x")])
    def infer(self, x):
        return {"y": tf.tanh(x @ self.kernel + self.bias) * self.scale}

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x"), tf.TensorSpec([None, 4], tf.float32, "t")])
    def train(self, x, t):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.infer(x)["y"] - t))
        for variable, gradient in zip((self.kernel, self.bias), tape.gradient(loss, (self.kernel, self.bias))):
            variable.assign_sub(0.5 * gradient)
        return {"loss": loss, "steps": self.steps.assign_add(1)}


def write_trained(folder):
    module, x, t = Trained(), draw(5, 3), draw(5, 4)
    calls = [("infer", {"x": x}), ("train", {"x": x, "t": t}), ("train", {"x": x, "t": t}), ("infer", {"x": x[:2]})]
    write_module(folder, module, {"infer": module.infer, "train": module.train}, calls)


class Branches(tf.Module):
    """Control flow of functions, a table of vectors, and integers."""

    def __init__(self):
        self.table = tf.Variable(draw(6, 2), name="table")
        self.limit = tf.Variable(3, name="limit")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, "ids")])
    def __call__(self, ids):
        rows = tf.nn.embedding_lookup(self.table, ids)
        total = tf.constant([0.0, 0.0])
        for _ in tf.range(self.limit):
            total = total * 0.5 + tf.reduce_sum(rows, axis=0)
        if tf.reduce_sum(total) > 0.0:
            total = total + self.table[0]
        else:
            total = total - self.table[1]
        return {"total": total, "rows": rows}


def write_branches(folder):
    module = Branches()
    calls = [("serving_default", {"ids": np.array(ids, np.int32)}) for ids in ([0, 1, 2], [3], [5, 5, 4, 1])]
    write_module(folder, module, {"serving_default": module.__call__}, calls)


def write_session(folder, use_resource):
    """A graph of TensorFlow 1, with a variable in two parts and two signatures."""
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 3], "x")
        w = v1.get_variable("w", initializer=draw(3, 4), use_resource=use_resource)
        table = v1.get_variable("table", [5, 4], initializer=v1.random_normal_initializer(seed=1),
                                use_resource=use_resource, partitioner=v1.fixed_size_partitioner(2))
        shift = v1.get_variable("shift", initializer=np.float32(0.25), trainable=False, use_resource=use_resource)
        y = tf.add(tf.matmul(x, w), tf.convert_to_tensor(table)[3], name="y")
        z = tf.multiply(y, shift, name="z")
        moved = tf.identity(v1.assign_add(shift, tf.reduce_sum(x)), name="moved")
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(folder))
        signature = v1.saved_model.predict_signature_def
        builder.add_meta_graph_and_variables(
            session, ["serve"],
            {"predict": signature({"features": x}, {"logits": y, "scaled": z}),
             "move": signature({"features": x}, {"shift": moved})})
        builder.save()
        calls, steps = [("predict", draw(2, 3)), ("move", draw(4, 3)), ("predict", draw(1, 3))], []
        for entry, features in calls:
            fetches = {"logits": y, "scaled": z} if entry == "predict" else {"shift": moved}
            steps.append((entry, {"features": features}, session.run(fetches, {x: features})))
    write_case(folder, steps)


def main():
    folder = pathlib.Path(sys.argv[1])
    write_trained(folder / "trained")
    write_branches(folder / "branches")
    write_session(folder / "references", use_resource=False)
    write_session(folder / "resources", use_resource=True)


if __name__ == "__main__":
    main()
