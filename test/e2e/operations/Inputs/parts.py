"""parts.py FOLDER: compares products with concatenations with NumPy, for each processor."""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "Inputs")]

from targets import TARGETS, load

folder = sys.argv[1]
random = np.random.default_rng(5)
with open(os.path.join(folder, "g.graph"), "w", encoding="utf-8") as file:
    file.write("""graph g edition 1

## A token of a decoder with two heads: its keys and values follow those of the past.
entry decode(q: f32[2, 1, 40], pastKeys: f32[2, past <= 300, 40], pastValues: f32[2, past, 40], key: f32[2, 1, 40],
             value: f32[2, 1, 40])
    -> (y: f32[2, 1, 40], newKeys: f32[2, 1, 40]) {
  keys = concat([pastKeys, key], axis: 1)
  values = concat([pastValues, value], axis: 1)
  scores = softmax(matmul(q, keys, transpose_rhs: true) / 8.0, axis: -1)
  return matmul(scores, values), keys[:, past: past + 1]
}

## The keys are appended before a transpose, as some exporters write it.
entry transposed(q: f32[2, 1, 40], keys: f32[n <= 300, 2, 40], key: f32[1, 2, 40]) -> (y: f32[2, 1, n + 1]) {
  return matmul(q, transpose(concat([keys, key], axis: 0), [1, 2, 0]))
}

entry rows(a: f32[150, 64], b: f32[50, 64], x: f32[64, 3]) -> (y: f32[200, 3]) {
  return matmul(concat([a, b], axis: 0), x)
}

entry sums(a: f32[150, 64], b: f32[50, 64], c: f32[1, 64], x: f32[201, 3]) -> (y: f32[64, 3], z: f32[3, 64]) {
  abc = concat([a, b, c], axis: 0)
  return matmul(abc, x, transpose_lhs: true), matmul(x, abc, transpose_lhs: true)
}

## A product and another reader need the whole.
entry whole(a: f32[150, 64], b: f32[50, 64], x: f32[64, 3]) -> (y: f32[200, 3], ab: f32[200, 64]) {
  ab = concat([a, b], axis: 0)
  return matmul(ab, x), ab * 2.0
}

entry slices(a: f32[m <= 9, 4], b: f32[5, 4], c: f32[n <= 9, 4])
    -> (x: f32[3, 4], y: f32[n, 4], z: f32[3, 2], w: f32[6, 4]) {
  abc = concat([a, b, c], axis: 0)
  return abc[m + 1: m + 4], abc[m + 5: m + 5 + n], abc[m + 1: m + 4, 1: 3], concat([b, b], axis: 0)[2: 8]
}

## Rows that are read from memory one after the other; the last vector of columns is not full.
entry long(x: f32[2, 203], w: f32[2011, 203]) -> (y: f32[2, 2011]) { return matmul(x, w, transpose_rhs: true) + 1.0 }
""")


def normal(*shape):
    return random.normal(size=shape).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def cases():
    for past in (0, 1, 130, 300):
        q, key, value, keys, values = normal(2, 1, 40), normal(2, 1, 40), normal(2, 1, 40), normal(2, past, 40), normal(
            2, past, 40)
        k, v = np.concatenate([keys, key], 1), np.concatenate([values, value], 1)
        y = softmax(q.astype("f8") @ k.swapaxes(1, 2) / 8) @ v
        yield "decode", {"q": q, "pastKeys": keys, "pastValues": values, "key": key, "value": value}, [y, key]
    q, keys, key = normal(2, 1, 40), normal(257, 2, 40), normal(1, 2, 40)
    yield "transposed", {"q": q, "keys": keys, "key": key}, [q @ np.concatenate([keys, key]).transpose(1, 2, 0)]
    a, b, c, x, y = normal(150, 64), normal(50, 64), normal(1, 64), normal(64, 3), normal(201, 3)
    ab, abc = np.concatenate([a, b]), np.concatenate([a, b, c])
    yield "rows", {"a": a, "b": b, "x": x}, [ab @ x]
    yield "sums", {"a": a, "b": b, "c": c, "x": y}, [abc.T @ y, y.T @ abc]
    yield "whole", {"a": a, "b": b, "x": x}, [ab @ x, ab * 2]
    for m, n in ((3, 2), (0, 9)):
        a, b, c = normal(m, 4), normal(5, 4), normal(n, 4)
        yield "slices", {"a": a, "b": b, "c": c}, [b[1:4], c, b[1:4, 1:3], np.concatenate([b, b])[2:8]]
    x, w = normal(2, 203), normal(2011, 203)
    yield "long", {"x": x, "w": w}, [x @ w.T + 1]


source = os.path.join(folder, "g.graph")
names = set()
expected = list(cases())
for target in TARGETS:
    models = [load(target, source, os.path.join(folder, f"{target}-{threads}.so"), threads=threads)
              for threads in (1, 3)]
    for name, feeds, values in expected:
        names.add(name)
        results = [model.call(name, **feeds) for model in models]
        for got, again, value in zip(*results, values):
            np.testing.assert_array_equal(got, again, err_msg=name)
            assert got.shape == value.shape, (name, got.shape, value.shape)
            assert np.abs(got - value).max(initial=0) <= 3e-6 * np.abs(value).max(initial=1), (target, name)
print(f"{len(names)} entries agree")
