"""Reads 400 files in a process that may open 200."""

import os
import resource
import sys

import numpy as np

sys.path.insert(0, f"{__file__.rsplit('/', 3)[0]}/Inputs")
from model import Failed, Model

FILES, ROWS = 400, 3
for i in range(FILES):
    with open(f"rows/{i:03}.csv", "w") as file:
        file.writelines(f"{i * ROWS + k},{i}.5\n" for k in range(ROWS))
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
model = Model("many.so")


def read(rows):
    x, y = model.call("read", rows=rows)
    assert np.array_equal(x, rows) and np.array_equal(y, rows // ROWS + 0.5)


read(np.arange(10))
os.chdir("other")
order = np.random.default_rng(1).permutation(FILES * ROWS)
read(order)
print(f"{FILES} files: {len(order)} rows agree")
for change in (lambda: os.replace("../rows/000.csv", "../rows/399.csv"), lambda: os.remove("../rows/399.csv")):
    change()
    try:
        read(np.array([FILES * ROWS - 1]))
        print("no error")
    except Failed as failure:
        print(failure)
