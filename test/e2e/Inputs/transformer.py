"""transformer.py MODEL.so: trains the model on one batch and compares its scores with NumPy's."""

import math
import sys

import numpy as np
from model import Model

LAYERS, HEADS, WIDTH = 2, 4, 64
model = Model(sys.argv[1])


def weight(name):
    return model["net." + name].astype(np.float64)


def norm(x, name):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * weight(name + ".scale") + weight(name + ".shift")


def dense(x, name):
    return x @ weight(name + ".w") + weight(name + ".b")


def attention(x, name):
    batch, time, _ = x.shape
    qkv = dense(x, name + ".qkv").reshape(batch, time, 3, HEADS, -1).transpose(2, 0, 3, 1, 4)
    score = qkv[0] @ qkv[1].swapaxes(-1, -2) / math.sqrt(WIDTH // HEADS)
    share = np.exp(np.where(np.tri(time, dtype=bool), score, -np.inf))
    mix = share / share.sum(-1, keepdims=True) @ qkv[2]
    return dense(mix.transpose(0, 2, 1, 3).reshape(x.shape), name + ".proj")


def scores(tokens):
    erf = np.vectorize(math.erf)
    x = weight("wte")[tokens] + weight("wpe")[: tokens.shape[1]]
    for layer in range(LAYERS):
        name = f"h.{layer}."
        x = x + attention(norm(x, name + "ln1"), name + "attn")
        up = dense(norm(x, name + "ln2"), name + "up")
        x = x + dense(0.5 * up * (1 + erf(up / math.sqrt(2))), name + "down")
    return norm(x, "ln") @ weight("wte").T


text = (np.arange(4 * 33).reshape(4, 33) * 7 % 100).astype(np.int32)
tokens, following = text[:, :-1].copy(), text[:, 1:].copy()
losses = [float(model.call("train", tokens=tokens, next=following)[0]) for _ in range(40)]
print(f"loss from {losses[0]:.2f} to {losses[-1]:.3f}")
assert abs(losses[0] - math.log(100)) < 0.5 and losses[-1] < 0.2
for batch, time in (4, 32), (1, 1), (3, 17):
    part = tokens[:batch, :time].copy()
    got = model.call("score", tokens=part)[0]
    assert got.shape == (batch, time, 100)
    np.testing.assert_allclose(got, scores(part), rtol=1e-4, atol=1e-4)
