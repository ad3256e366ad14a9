"""Writes the graphs and the values that scripts record in TensorFlow."""

import json
import pathlib
import sys

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def write_case(name, graph, init, fetches, steps, tolerance):
    """Writes a graph and a case to the folder that the command names: the values of the fetches in a session, for each step
    with these feeds. `init` are operations that run first."""
    folder = pathlib.Path(sys.argv[1]) / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
    case, recorded = {"init": init, "arrays": "arrays.npz", "steps": []}, {}
    with v1.Session(graph=graph) as session:
        session.run(init)
        for number, feeds in enumerate(steps):
            values = session.run(fetches, {f"{key}:0": value for key, value in feeds.items()})
            step = {"feeds": {}, "fetches": {}, "targets": [], "rtol": tolerance, "atol": tolerance}
            for key, value in feeds.items():
                step["feeds"][f"{key}:0"], recorded[f"{number}.{key}"] = f"{number}.{key}", value
            for fetch, value in zip(fetches, values):
                key = f"{number}.{fetch.op.name}.expected"
                step["fetches"][fetch.name], recorded[key] = key, value
            case["steps"].append(step)
    np.savez_compressed(folder / "arrays.npz", **recorded)
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
