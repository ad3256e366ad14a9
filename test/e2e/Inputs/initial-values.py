"""initial-values.py MODEL.so: holds the moments and limits of initial values to their definitions.

Of n numbers the mean may be off by five of its deviations, and so may the second and the fourth moment: at a fixed
seed a test, not a matter of luck.
"""

import sys

import numpy as np
from model import Model

KINDS = "glorot_uniform glorot_normal he_uniform he_normal truncated_normal uniform normal".split()
FANS = {"variables": (200, 300), "kernels": (15 * 16, 15 * 32)}
# Within two deviations a normal distribution has these moments (of a deviation of 1).
SHRUNK = 0.87962566103423978


def moments(kind, inputs, outputs):
    """The mean, the deviation, the fourth moment in deviations, and the limits."""
    uniform = kind.endswith("uniform")
    mean, low, high = 0.0, -np.inf, np.inf
    if kind == "uniform":
        mean, deviation, low, high = 1.0, 4 / np.sqrt(12), -1.0, 3.0
    elif kind == "normal":
        mean, deviation = -2.0, 3.0
    elif kind == "truncated_normal":
        mean, deviation, low, high = 1.0, 0.5 * SHRUNK, 0.0, 2.0
    else:
        deviation = np.sqrt(2 / (inputs if kind.startswith("he") else (inputs + outputs)))
        limit = deviation * (np.sqrt(3) if uniform else 2 / SHRUNK)
        low, high = -limit, limit
    if uniform:
        fourth = 9 / 5
    elif kind == "normal":
        fourth = 3.0
    else:
        fourth = truncated_fourth()
    return mean, deviation, fourth, low, high


def truncated_fourth():
    """The fourth moment of a normal distribution within two deviations, over the square of the second."""
    x = np.linspace(-2, 2, 400001)
    weight = np.exp(-(x**2) / 2)
    second, fourth = ((weight * x**k).sum() / weight.sum() for k in (2, 4))
    return fourth / second**2


def check(kind, values, inputs, outputs):
    mean, deviation, fourth, low, high = moments(kind, inputs, outputs)
    kept = values.dtype
    values = values.astype(np.float64).ravel()
    slack = np.finfo(kept).eps * (abs(mean) + 4 * deviation)  # of the rounding of a limit
    assert values.min() >= low - slack and values.max() <= high + slack, (kind, values.min(), values.max())
    if np.isfinite(low):  # and they come close to it
        assert values.min() < low + 0.01 * deviation and values.max() > high - 0.01 * deviation, kind
    assert len(np.unique(values)) > 0.9 * len(values), kind
    unit = (values - mean) / deviation
    for power, expected in (1, 0.0), (2, 1.0), (3, 0.0), (4, fourth):
        terms = unit**power
        off = (terms.mean() - expected) / (terms.std() / np.sqrt(len(terms)))
        assert abs(off) < 5, (kind, power, off)
    neighbours = (unit[1:] * unit[:-1]).mean() * np.sqrt(len(unit))
    assert abs(neighbours) < 5, (kind, neighbours)


model = Model(sys.argv[1], threads=1)
for entry, fans in FANS.items():
    results = model.call(entry)
    drawn = {kind: np.asarray(value) for kind, value in zip(KINDS, results)}
    for kind, value in drawn.items():
        check(kind, value, *fans)
    firsts = {tuple(value.ravel()[:4]) for value in drawn.values()}
    assert len(firsts) == len(KINDS)  # each name and each seed draws numbers of its own
