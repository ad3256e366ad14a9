"""distributions.py MODEL.so: compares quantiles and moments of random numbers with those of their distributions."""

import math
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).parent.parent / "Inputs"))
from model import Model

model = Model(sys.argv[1])
ALPHA, RATE = np.array([0.2, 1.0, 3.5, 60.0], np.float32), np.array([0.0, 0.4, 7.5, 10.0, 300.0], np.float32)
LIMITS = np.array([[0, 1, -1, 2], [2, 0.5, 4, 9], [1, 3, -100, 100], [0, 1, 6, 8]], np.float32)  # mean, deviation, low, high


def phi(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def shares(samples, function, name):
    """Compares how many samples are below each tenth of them with their distribution function."""
    for share in np.arange(0.1, 1, 0.1):
        expected = function(np.quantile(samples, share))
        # Four standard deviations of a binomial distribution.
        assert abs(expected - share) < 4 * math.sqrt(share * (1 - share) / len(samples)), (name, share, expected)


def gamma_share(a, x):
    """The series of the incomplete gamma function."""
    term, total, k = 1 / a, 1 / a, 0
    while term > 1e-12 * total:
        k += 1
        term *= x / (a + k)
        total += term
    return total * math.exp(a * math.log(x) - x - math.lgamma(a))


draws = [model.call("draw", a=ALPHA, r=RATE, m=LIMITS) for _ in range(2)]
assert not np.array_equal(draws[0][0], draws[1][0])
gamma, poisson, truncated = (np.concatenate([draw[k] for draw in draws], axis=1 if k == 2 else 0).astype(np.float64) for k in range(3))
for k, a in enumerate(ALPHA):
    shares(gamma[:, k], lambda x: gamma_share(float(a), x), f"gamma {a}")
for k, r in enumerate(RATE):
    sample, n = poisson[:, k], len(poisson)
    assert (sample >= 0).all() and (sample == np.floor(sample)).all()
    assert abs(sample.mean() - r) <= 4 * math.sqrt(r / n), (r, sample.mean())
    # The variance of the second moment is that of a sum of the moments of the distribution.
    assert abs(sample.var() - r) <= 4 * math.sqrt((r + 2 * r**2) / n) + 4 * r / n, (r, sample.var())
    if r:
        assert abs((sample == 0).mean() - math.exp(-r)) <= 4 * math.sqrt(math.exp(-r) / n) + 1e-9
for k, (mean, deviation, low, high) in enumerate(LIMITS.astype(np.float64)):
    sample, a, b = truncated[k], (low - mean) / deviation, (high - mean) / deviation
    assert (sample >= low).all() and (sample <= high).all()
    shares(sample, lambda x: (phi(-a) - phi(-(x - mean) / deviation)) / (phi(-a) - phi(-b)), f"truncated {k}")
print(len(gamma), "draws as expected")
