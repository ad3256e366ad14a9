"""simulated.py FOLDER SCHEME: simulates what alone.py has done, with the schedule that it has logged, and compares the
variables."""

import os
import sys

import numpy as np
from batches import gradient

folder, scheme = sys.argv[1:]


def read(name):
    return np.load(os.path.join(folder, name))


states = [read("first.npy").astype(np.float64)]
if scheme == "asynchronous":
    log = sorted((updates, number, seen) for task in (2, 3, 4) for number, seen, updates in read(f"log-{task}.npy"))
    assert [updates for updates, _, _ in log] == list(range(1, len(log) + 1)), log
    for updates, number, seen in log:
        assert seen < updates
        states.append(states[-1] - 0.1 * gradient(states[seen], number))
    late = sum(seen + 1 < updates for updates, _, seen in log)
    print(f"{len(log)} updates, of which {late} saw an earlier state")
else:
    log = read("log-0.npy")
    assert len(set(log.ravel())) == log.size, log  # no gradient counts twice
    for batches in log:
        states.append(states[-1] - 0.1 * np.mean([gradient(states[-1], number) for number in batches], axis=0))
    print(f"{len(log)} steps of {log.shape[1]} gradients")
np.testing.assert_allclose(read("last.npy"), states[-1], rtol=2e-5, atol=2e-6)
assert np.abs(states[-1] - states[0]).max() > 0.05
