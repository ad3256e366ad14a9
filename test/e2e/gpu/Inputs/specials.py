"""specials.py CPU_LIBRARY GPU_LIBRARY: calls each entry on both, whose results have the same bits."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
from model import Model

cpu, gpu = (Model(path, threads=1) for path in sys.argv[1:])
random = np.random.default_rng(0)


def check(entry, **feeds):
    for value, expected in zip(gpu.call(entry, **feeds), cpu.call(entry, **feeds), strict=True):
        np.testing.assert_array_equal(value, expected, err_msg=entry)


def normal(*shape, dtype=np.float32):
    return random.normal(size=shape).astype(dtype)


def places(*shape, below=50):
    return random.integers(0, below, shape)


x = normal(50, 3)
check("few", x=x, at=places(5, below=3), u=normal(5, 3))
check("many", x=x, at=places(700), u=normal(700, 3))
check("many", x=x, at=places(700, below=2), u=normal(700, 3))
check("batches", x=x, at=places(20, 9), u=normal(20, 9, 3))
for n in 0, 1, 100, 17000:
    check("dynamic", x=x, at=places(n), u=normal(n, 3))
check("numbers", x=normal(100, dtype=np.float64), at=places(900, below=90), u=normal(900, dtype=np.float64))
check("embedded", table=normal(40, 8), at=places(300, below=30), g=normal(300, 8))
x = normal(4, 700)
x[:, 100:300] = 1
x[2, 5] = np.nan
check("order", x=x)
check("across", x=random.integers(-9, 9, (300, 5)))
for n, m in (0, 3), (3, 0), (1, 1), (7, 200), (2, 300000):
    check("loose", x=np.round(normal(n, m, dtype=np.float64), 1))
check("top", x=np.round(normal(3, 5000), 2))
check("top_loose", x=np.round(normal(6, 90), 1))
