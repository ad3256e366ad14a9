"""sampled_softmax_simulated.py FOLDER: simulates the steps that sampled_softmax.py has logged, in their order."""

import os
import sys

import numpy as np
from candidates_check import check_candidates, sampled_softmax


def read(name):
    return np.load(os.path.join(sys.argv[1], f"{name}.npz"))


first, last = read("first"), read("last")
rows, w = first["rows"].astype(np.float64), first["w"].astype(np.float64)
log = {**read("log-2"), **read("log-3")}
steps = sorted(int(key[5:]) for key in log if key.startswith("loss."))
assert steps == list(range(1, 61)), steps
touched, hits, draws = set(), 0, set()
for step in steps:
    x, label, loss, sampled, expected, label_expected = (
        log[f"{kind}.{step}"] for kind in ("x", "label", "loss", "sampled", "expected", "label_expected")
    )
    check_candidates(sampled, expected, label, label_expected, 1001)
    hidden = np.tanh(x.astype(np.float64) @ w)
    losses, dx, dw, _ = sampled_softmax(hidden, label, rows, np.zeros(1001), sampled, expected, label_expected)
    np.testing.assert_allclose(loss, losses.mean(), rtol=1e-4)
    touched |= {*label, *sampled}
    hits += (sampled == label[:, None]).sum()
    draws.add(tuple(sampled))
    rows -= 0.5 * dw / len(x)
    w -= 0.5 * x.T @ (dx * (1 - hidden**2)) / len(x)
np.testing.assert_allclose(last["rows"], rows, rtol=1e-4, atol=2e-5)
np.testing.assert_allclose(last["w"], w, rtol=1e-4, atol=2e-5)
changed = (last["rows"] != first["rows"]).any(1)
assert set(np.flatnonzero(changed)) <= touched and len(touched) < 1001
assert len(draws) == 60, len(draws)
print(f"{len(steps)} steps, {changed.sum()} of {len(rows)} rows have changed, {hits} samples were labels")
