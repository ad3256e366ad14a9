"""peer.py MODEL.so VALUES.npz: compares the layers of torch.graph, with PyTorch's weights, with PyTorch's results."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from agree import difference
from model import Model


def kernel(w):
    """[outputs, inputs, taps..] to [taps.., inputs, outputs]."""
    return np.moveaxis(w, (0, 1), (-1, -2))


def gates(w, order, axis=0):
    """PyTorch's gates, which are stacked as rows, in our order and as columns."""
    parts = np.split(w, len(order), axis)
    return np.concatenate([parts[i] for i in order], axis).T


def dense(v, of=""):
    return {"w": v[of + "weight"].T, "b": v[of + "bias"]}


def norm(v, of=""):
    return {"scale": v[of + "weight"], **({"shift": v[of + "bias"]} if of + "bias" in v else {})}


def convolution(v):
    return {"w": kernel(v["weight"]), "b": v["bias"]}


def recurrent(v, order, suffix="_l0"):
    w, u, b, c = (v[name + suffix] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    return {"w": gates(w, order), "u": gates(u, order), "b": gates(b + c, order)}


def lstm(v, suffix="_l0"):
    projection = {"p": v["weight_hr" + suffix].T} if "weight_hr" + suffix in v else {}
    return {**recurrent(v, [0, 2, 1, 3], suffix), **projection}


def gru(v):
    given, state = v["bias_ih_l0"], v["bias_hh_l0"]
    units = len(state) // 3
    inside = np.concatenate([given[: 2 * units] + state[: 2 * units], given[2 * units:]])
    return {**recurrent(v, [0, 1, 2]), "b": inside, "c": state[2 * units:]}


def under(name, values):
    return {f"{name}.{key}": value for key, value in values.items()}


def attention(v, of=""):
    qkv = {"w": v[of + "in_proj_weight"].T, "b": v[of + "in_proj_bias"]}
    return {**under("qkv", qkv), **under("proj", dense(v, of + "out_proj."))}


def encoder(v):
    parts = {"ln1": norm(v, "norm1."), "ln2": norm(v, "norm2."), "mlp.up": dense(v, "linear1."),
             "mlp.down": dense(v, "linear2."), "attn": attention(v, "self_attn.")}
    return {key: value for name, part in parts.items() for key, value in under(name, part).items()}


WEIGHTS = {
    "dense": dense, "conv2d": convolution, "conv1d": convolution, "depthwise": convolution,
    "transposed": convolution, "transposed1d": convolution, "batch_norm": norm, "layer_norm": norm,
    "group_norm": norm, "instance_norm": norm, "rms_norm": norm, "projected": lstm, "gru": gru,
    "rnn": lambda v: recurrent(v, [0]), "attention": attention, "encoder": encoder, "encoder_first": encoder,
    "bag": lambda v: {"table": v["weight"]}, "prelu": lambda v: {"slope": v["weight"]},
}


def set_weights(model, name, v):
    if name == "lstm":
        weights = {**under("there", lstm(v)), **under("back", lstm(v, "_l0_reverse"))}
    else:
        weights = under(name + "_1", WEIGHTS[name](v)) if name in WEIGHTS else {}
    for key, value in weights.items():
        model[key] = np.ascontiguousarray(value)


def main():
    model, values = Model(sys.argv[1]), np.load(sys.argv[2])
    names, wrong = list(dict.fromkeys(key.split("/")[0] for key in values)), 0
    for name in names:
        v = {key.split("/")[1]: values[key] for key in values if key.startswith(name + "/")}
        set_weights(model, name, v)
        feeds = {key: v[key] for key, _ in model.entries["of_" + name][0]}
        results = dict(enumerate(model.call("of_" + name, **feeds)))
        found = {f"y{i}": difference(y, v[f"y{i}"], 2e-5) for i, y in results.items()}
        if name == "batch_norm":
            found["average"] = difference(model["batch_norm_1.average"], v["after.running_mean"], 2e-5)
            found["variance"] = difference(model["batch_norm_1.variance"], v["after.running_var"], 2e-5)
        found = {key: what for key, what in found.items() if what}
        wrong += bool(found)
        for key, what in found.items():
            print(f"{name}: {key} {what}")
    print(f"{len(names)} layers, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
