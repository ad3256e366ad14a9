"""embedding_simulated.py FOLDER: simulates the steps that embedding.py has logged, in their order."""

import os
import sys

import numpy as np


def read(name):
    return np.load(os.path.join(sys.argv[1], f"{name}.npz"))


first, last = read("first"), read("last")
rows, out = first["rows"].astype(np.float64), first["out"].astype(np.float64)
log = {**read("log-2"), **read("log-3")}
steps = sorted(int(key[4:]) for key in log if key.startswith("loss"))
assert steps == list(range(1, 61)), steps
for step in steps:
    ids, label = log[f"ids{step}"], log[f"label{step}"]
    x = rows[ids]
    logits = x @ out
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    np.testing.assert_allclose(log[f"loss{step}"], -np.log(p[np.arange(len(ids)), label]).mean(), rtol=1e-4)
    slope = (p - np.eye(4)[label]) / len(ids)
    np.add.at(rows, ids, -0.5 * slope @ out.T)
    out -= 0.5 * x.T @ slope
np.testing.assert_allclose(last["rows"], rows, rtol=1e-4, atol=1e-5)
np.testing.assert_allclose(last["out"], out, rtol=1e-4, atol=1e-5)
changed = (last["rows"] != first["rows"]).any(1)
assert not changed[120:].any()
print(f"{len(steps)} steps, {changed.sum()} of {len(rows)} rows have changed")
