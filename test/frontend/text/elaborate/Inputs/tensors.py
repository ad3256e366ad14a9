"""Writes small tensor files, sound and damaged, into the folder that it is given."""

import json
import pathlib
import struct
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def npy(name, descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    size = struct.pack("<H", len(header))
    (folder / name).write_bytes(b"\x93NUMPY\x01\x00" + size + header.encode() + data)


npy("w.npy", "<f4", (2, 3), struct.pack("<6f", *range(6)))
npy("cut.npy", "<f4", (2, 3), struct.pack("<5f", *range(5)))
npy("odd.npy", ">f4", (2, 3), struct.pack(">6f", *range(6)))

header = json.dumps(
    {
        "net.w": {"dtype": "F64", "shape": [128], "data_offsets": [0, 1024]},
        "k": {"dtype": "I64", "shape": [], "data_offsets": [1024, 1032]},
    }
).encode()
header += b" " * (-len(header) % 8)
data = struct.pack("<128d", *range(128)) + struct.pack("<q", 7)
(folder / "all.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)
(folder / "bad.safetensors").write_bytes(struct.pack("<Q", 1 << 40) + header)
