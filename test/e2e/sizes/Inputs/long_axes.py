"""Writes arrays without elements, but with long axes, which NumPy's own functions refuse to make."""

import os
import sys

import numpy as np

folder = sys.argv[1]
for size in (1000, 536870912, 4294967299):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({size}, 0), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(os.path.join(folder, f"{size}.npy"), "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
np.save(os.path.join(folder, "four.npy"), np.zeros(4, "f4"))
