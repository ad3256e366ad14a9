"""npy.py FILE: writes [1.0, 2.0] as f32."""

import struct
import sys

header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
header += " " * (63 - (10 + len(header)) % 64) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<2f", 1, 2))
