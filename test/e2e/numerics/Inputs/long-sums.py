"""long-sums.py MODEL.so: sums of tens of thousands of positive numbers are right to some 16 roundings.

One after the other they are 50 to 70 off.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Inputs"))
from model import Model

ROUNDING = 2.0**-24
model, random = Model(sys.argv[1], threads=1), np.random.RandomState(1)


def check(entry, shape, axis, function=lambda x: x):
    x = random.uniform(size=shape).astype(np.float32)
    expected = function(x.astype(np.float64)).sum(axis)
    (got,) = model.call(entry, x=x)
    off = np.abs(got.astype(np.float64) / expected - 1).max() / ROUNDING if np.size(expected) else 0
    print(f"{entry}: {off:.1f} roundings off")
    assert off < 16, entry


check("columns", (20000, 24), 0)
check("squares", (20000, 24), 0, np.square)
check("channels", (50, 20, 20, 8), (0, 1, 2))
check("static_columns", (20000, 24), 0)
check("static_channels", (50, 20, 20, 8), (0, 1, 2))
check("flat_channels", (20000, 1, 3, 8), (0, 1, 2))
check("rows", (3, 20000), 1)
check("everything", (20000, 24), None)
for n in 1, 2, 63, 64, 65, 129:  # where blocks end
    check("columns", (n, 24), 0)
    check("channels", (n, 20, 1, 8), (0, 1, 2))
