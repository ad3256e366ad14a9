"""The calls of the reduced models, whose feeds are drawn by their names."""

import os
import re
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
FRONTEND = os.path.join(HERE, "..", "..", "..", "..", "frontend")
sys.path.append(os.path.join(FRONTEND, "Inputs"))
import draw

DTYPES = {"f32": np.float32, "i64": np.int64}

# By model: options of the compiler, the limits of integer feeds, and the named sizes of each call.
CALLS = {
    "alexnet": ([], {}, [{}]),
    "vgg16": ([], {}, [{}]),
    "resnet50": (["--bound", "batch=4"], {}, [{"batch": 1}, {"batch": 3}]),
    "inception_v3": ([], {}, [{}]),
    "mobilenet_v2": ([], {}, [{}]),
    "bert_base": ([], {"input_ids": 100, "attention_mask": 2}, [{}]),
    "gpt2": (["--bound", "seq=64"], {"ids": 100}, [{"seq": 1}, {"seq": 2}, {"seq": 19}, {"seq": 64}]),
    "gpt2_decode": (["--bound", "past=63"], {"ids": 100, "pos": 64}, [{"past": 0}, {"past": 1}, {"past": 18}]),
    "bert_dynamic": ([], {"input_ids": 99, "attention_mask": 2}, [{"batch": 1, "seq": 5}, {"batch": 3, "seq": 32}]),
    "llama": (["--bound", "seq=16"], {"input_ids": 99}, [{"batch": 1, "seq": 5}, {"batch": 3, "seq": 16}]),
    "lstm_lm": ([], {"tokens": 60}, [{}]),
}


def text_of(model):
    return os.path.join(HERE, model + ".txt")


def write_onnx(model, path):
    writer = os.path.join(FRONTEND, "onnx", "Inputs", "model.py")
    with open(text_of(model), "rb") as text, open(path, "wb") as file:
        subprocess.run([sys.executable, writer], stdin=text, stdout=file, check=True)


def inputs_of(model):
    """[(name, element type, sizes)] of the inputs."""
    with open(text_of(model), encoding="utf-8") as text:
        found = re.findall(r"^input (\S+) (\w+)\[(.*)\]$", text.read(), re.MULTILINE)
    return [(name, DTYPES[kind], dims.split(",")) for name, kind, dims in found]


def feeds_of(model, sizes):
    """The feeds of a call: integers from 0 to below the limit, or floats around 0 with deviation 1."""
    feeds, limits = {}, CALLS[model][1]
    for name, dtype, dims in inputs_of(model):
        shape = [sizes[dim] if dim in sizes else int(dim) for dim in dims]
        if dtype == np.int64:
            drawn = draw.uniform(name, int(np.prod(shape))).reshape(shape)
            feeds[name] = (drawn * limits[name]).astype(dtype)
        else:
            feeds[name] = draw.spread(name, shape, 0, 1)
    return feeds
