"""Writes arrays without elements that have long axes to the folder given: NumPy refuses to."""

import pathlib
import sys

for name, size in (("large", 2**56), ("middle", 2**40)):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({size}, 0), }}".encode().ljust(117) + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    pathlib.Path(sys.argv[1], f"{name}.npy").write_bytes(data)
