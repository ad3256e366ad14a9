"""candidates.py MODEL.so: checks the classes that candidate samplers return and their expected counts."""

import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).parent.parent / "Inputs"))
from model import Model

model, true, calls = Model(sys.argv[1]), np.array([[0], [7]], np.int64), 0
for entry in "falling", "equal", "repeated":
    classes = np.arange(20)
    share = np.full(20, 1 / 20) if entry == "equal" else np.log((classes + 2) / (classes + 1)) / np.log(21)
    counts, sums = np.zeros(20), np.zeros(20)
    for _ in range(400):
        sampled, of_true, of_sampled = model.call(entry, m=true)
        assert sampled.min() >= 0 and sampled.max() < 20
        assert entry == "repeated" or len(set(sampled)) == 5
        tries = np.round(np.log1p(-of_sampled[0]) / np.log1p(-share[sampled[0]]))
        expected = 5 * share if entry == "repeated" or abs(of_sampled - 5 * share[sampled]).max() < 1e-5 else \
            -np.expm1(tries * np.log1p(-share))  # fmt: skip
        np.testing.assert_allclose(of_sampled, expected[sampled], rtol=1e-4)
        np.testing.assert_allclose(of_true, expected[true], rtol=1e-4)
        np.add.at(counts, sampled, 1)
        sums += expected
        calls += 1
    # Four standard deviations of a binomial distribution.
    assert (abs(counts - sums) < 4 * np.sqrt(sums) + 4).all(), (entry, counts, sums)
print(calls, "calls as expected")
