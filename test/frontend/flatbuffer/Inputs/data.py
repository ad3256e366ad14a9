"""data.py SCHEMA FOLDER: writes graphs with constants in several places, and prints what `tfc` computes or says."""

import json
import os
import struct
import subprocess
import sys

import numpy as np

schema, folder = sys.argv[1:]
os.makedirs(f"{folder}/graphs", exist_ok=True)
os.chdir(f"{folder}/graphs")

VALUES = np.arange(100, dtype=np.float32)
HEADER = json.dumps({"w": {"dtype": "F32", "shape": [100], "data_offsets": [0, 400]}}).encode()
for path in ("w.safetensors", "../other/w.safetensors"):
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(HEADER)) + HEADER + VALUES.tobytes())
np.save("w.npy", VALUES)
np.save("i64.npy", VALUES.astype(np.int64))


def entry(nodes, values):
    return {
        "name": "main",
        "values": values,
        "fetches": [{"name": "y"}],
        "nodes": nodes + [{"operation": "return", "operands": [len(values) - 1]}],
    }


def attribute(name, kind, **value):
    return {"name": name, "value_type": kind, "value": value}


def write(graph, section=b""):
    """Writes a.tfg: a FlatBuffer, padding, and the section."""
    types = [{"element": "f32", "sizes": [{"value": 100}]}, {"element": "bool", "sizes": [{"value": 100}]}]
    types.append({"kind": "Element", "element": "f32"})
    with open("a.json", "w", encoding="utf-8") as file:
        json.dump({"edition": 1, "name": "g", "types": types, "data_bytes": len(section), **graph}, file)
    subprocess.run(["flatc", "--binary", schema, "a.json"], check=True)
    with open("a.tfg", "ab") as file:
        file.write(bytes(-file.tell() % 64) + section)


def show(name, *options):
    done = subprocess.run(
        ["tfc", "run", "a.tfg", "--fetch-dir", ".", *options], capture_output=True, text=True, errors="replace"
    )
    if done.returncode:
        print(f"{name}: {done.stderr.splitlines()[0]}")
    else:
        print(f"{name}: y = {np.array2string(np.load('y.npy'), max_line_width=10000)}")


def constant(name, value, section=b"", options=()):
    nodes = [{"operation": "constant", "results": [0], "attributes": [attribute("value", "ConstantValue", value=value)]}]
    write({"entries": [entry(nodes, [0])]}, section)
    show(name, *options)


BYTES = VALUES.tobytes()
PADDED = BYTES + bytes(-len(BYTES) % 64)
constant("inline", {"type": 0, "data": list(BYTES)})
constant("section", {"type": 0, "offset": 448, "bytes": 400, "name": "w"}, PADDED + BYTES)
constant("safetensors", {"type": 0, "file": "w.safetensors", "key": "w"})
constant("npy", {"type": 0, "file": "w.npy"})

VARIABLE = {"name": "w", "type": 0, "initial": {"type": 0, "offset": 0, "bytes": 400}}
READ = {"operation": "read", "results": [0], "attributes": [attribute("variable", "SymbolValue", value="w")]}
declarations = [{"declared_type": "Variable", "declared": VARIABLE}]
write({"declarations": declarations, "entries": [entry([READ], [0])]}, PADDED)
show("variable")

FAR = 3 << 30
far = {"type": 0, "offset": FAR, "bytes": 400}
nodes = [{"operation": "constant", "results": [0], "attributes": [attribute("value", "ConstantValue", value=far)]}]
write({"entries": [entry(nodes, [0])], "data_bytes": FAR + len(PADDED)})
with open("a.tfg", "r+b") as file:  # sparse
    file.seek(FAR, os.SEEK_END)
    file.write(PADDED)
show("far")
os.remove("a.tfg")

flags = {"type": 1, "offset": 0, "bytes": 100}
nodes = [
    {"operation": "constant", "results": [0], "attributes": [attribute("value", "ConstantValue", value=flags)]},
    {"operation": "cast", "operands": [0], "results": [1], "attributes": [attribute("dtype", "TypeValue", type=2)]},
]
write({"entries": [entry(nodes, [1, 0])]}, bytes([1, 0] * 50) + bytes(28))
show("bool")

constant("unaligned", {"type": 0, "offset": 4, "bytes": 400}, PADDED)
constant("too long", {"type": 0, "offset": 64, "bytes": 400}, PADDED)
constant("too short", {"type": 0, "offset": 0, "bytes": 396}, PADDED)
constant("another type", {"type": 0, "file": "i64.npy"})
constant("no key", {"type": 0, "file": "w.safetensors", "key": "v"})
constant("outside", {"type": 0, "file": "../other/w.safetensors"})
constant("allowed", {"type": 0, "file": "../other/w.safetensors"}, options=["--allow-path", "../other"])

constant_file = {"type": 0, "file": "w.safetensors"}
nodes = [{"operation": "constant", "results": [0], "attributes": [attribute("value", "ConstantValue", value=constant_file)]}]
write({"entries": [entry(nodes, [0])]})
os.link("w.safetensors", "b.tfg")
done = subprocess.run(["tfc", "convert", "a.tfg", "b.tfg"], capture_output=True, text=True)
print(f"overwrite: {done.stderr}", end="")
