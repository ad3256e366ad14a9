"""Writes the graphs and the values that scripts record in TensorFlow."""

import json
import lzma
import pathlib
import sys

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def write_case(name, graph, init, fetches, steps, tolerance, targets=(), last=(), compressed=False,
               evaluated=None):
    """Writes a graph and a case to the folder that the command names: the values of the fetches in a session, for each step
    with these feeds, which may share arrays, and of `last` after the steps. `init` are operations that run first, and
    `targets` those of each step. A large graph can be compressed. A graph that TensorFlow
    cannot run on a CPU comes with an equivalent one, with the same names of feeds and fetches, that is evaluated."""
    folder = pathlib.Path(sys.argv[1]) / name
    folder.mkdir(parents=True, exist_ok=True)
    text = graph.as_graph_def().SerializeToString()
    if compressed:
        (folder / "graph.pb.xz").write_bytes(lzma.compress(text, preset=9))
    else:
        (folder / "graph.pb").write_bytes(text)
    case, recorded, keys = {"init": init, "arrays": "arrays.npz", "steps": []}, {}, {}

    def add_step(feeds, fetches, targets):
        number = len(case["steps"])
        feeds = {key if ":" in key else f"{key}:0": value for key, value in feeds.items()}
        values = session.run([[fetch.name for fetch in fetches], list(targets)], feeds)[0]
        step = {"feeds": {}, "fetches": {}, "targets": list(targets), "rtol": tolerance, "atol": tolerance}
        for key, value in feeds.items():
            if id(value) not in keys:
                keys[id(value)] = f"{number}.{key.removesuffix(':0')}"
                recorded[keys[id(value)]] = value
            step["feeds"][key] = keys[id(value)]
        for fetch, value in zip(fetches, values):
            key = f"{number}.{fetch.op.name}.expected"
            step["fetches"][fetch.name], recorded[key] = key, value
        case["steps"].append(step)

    with v1.Session(graph=evaluated or graph) as session:
        session.run(init)
        for feeds in steps:
            add_step(feeds, fetches, targets)
        if last:
            add_step({}, last, ())
    np.savez_compressed(folder / "arrays.npz", **recorded)
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


def write_values(name, build, shapes, steps, equivalent=None):
    """Writes a case of what `build` makes of placeholders, {name: (type, shape)}, which are fed in each step. If TensorFlow
    cannot run that on a CPU, `equivalent` makes the same of them for the values."""
    graphs = []
    for make in (build, equivalent or build):
        graphs.append(tf.Graph())
        with graphs[-1].as_default():
            given = {key: v1.placeholder(dtype, shape, name=key) for key, (dtype, shape) in shapes.items()}
            fetches = [tf.identity(value, name=f"y{i}") for i, value in enumerate(make(*given.values()))]
    write_case(name, graphs[0], [], fetches, steps, 1e-4, evaluated=graphs[1])
