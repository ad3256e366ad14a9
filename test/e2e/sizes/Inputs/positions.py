"""positions.py GRAPH FOLDER: calls entries with long axes, in compiled code and in the oracle, and prints both outcomes."""

import sys

sys.path.pop(0)  # `select.py` in this folder is not the module that subprocess needs

import subprocess

graph, folder = sys.argv[1:]
LONG = 4294967299
CALLS = [("taken", LONG), ("outside", LONG), ("found", 1000), ("found", LONG),
         ("found_wide", LONG), ("first", LONG), ("pooled", 1000), ("listed", 1000), ("listed", LONG),
         ("bytes", 256), ("bytes", 257), ("shorts", 1000), ("shorts", 536870912)]


def write(size):
    """An array without elements, which NumPy refuses to make."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({size}, 0), }}".encode().ljust(117) + b"\n"
    with open(f"{folder}/{size}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)


def call(entry, size, *flags):
    ran = subprocess.run(["tfc", "run", graph, "--entry", entry, "--feed", f"x={folder}/{size}.npy", *flags],
                         capture_output=True, text=True)
    return ran.stdout if ran.returncode == 0 else ran.stderr.replace("tfc: error: ", "").strip()


for entry, size in CALLS:
    write(size)
    compiled, expected = call(entry, size), call(entry, size, "--reference")
    if compiled != expected:
        print(f"{entry} {size}: {compiled}, but the oracle: {expected}")
    else:
        print(f"{entry} {size}: {compiled if compiled.startswith(entry) else 'computed'}")
