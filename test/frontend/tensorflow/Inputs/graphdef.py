"""Writes a binary GraphDef from text: graphdef.py < TEXT > graph.pb

One node per line, attributes after a bar, and comments after #:

    x Placeholder | dtype=f32 shape=[?,4]
    c Const ^x | dtype=i32 value=i32[2]{1,2}
    y Sum x c | T=f32 keep_dims=true

Integers and texts in angle brackets are spelled in the field of their dtype, as in value=u8[4]<1,2>. `@device=/cpu:0` is the device of
a node. `f=@twice` is the function of that name, `f=list(@a;@b)` are several, and `T=$T` is the value of a function's
attribute. A function has its parameters and its results, which name outputs of nodes:

    function twice x -> y=sum:z:0 | done=sum
    sum AddV2 x x | T=f32
    end
"""

import os
import re
import struct
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
from protobuf import block, number, varint

TYPES = dict(f32=1, f64=2, i32=3, u8=4, i16=5, i8=6, string=7, c64=8, i64=9, bool=10, bf16=14, c128=18, f16=19,
             resource=20, variant=21)
SPELLED = dict(i64=10, f16=13, bf16=13)  # others: int_val
PACKED = dict(c64="f", c128="d", f16="e", f32="f", f64="d", i32="i", u8="B", i16="h", i8="b", i64="q", bool="?")


def shape(text):
    if text == "?":
        return number(3, 1)
    sizes = [size.strip() for size in text.strip("[]").split(",") if size.strip()]
    return b"".join(block(2, number(1, -1 if size == "?" else int(size))) for size in sizes)


def tensor(dtype, sizes, values):
    numbers = [float(v) if dtype[0] in "cf" else int(v) for v in values.split(",") if v.strip()]
    content = struct.pack(f"<{len(numbers)}{PACKED[dtype]}", *numbers)
    return number(1, TYPES[dtype]) + block(2, shape(sizes)) + block(4, content)


def spelled(dtype, sizes, values):
    if dtype == "string":
        elements = [block(8, value) for value in values.split(",")]
    else:
        elements = [number(SPELLED.get(dtype, 7), int(value)) for value in values.split(",")]
    return number(1, TYPES[dtype]) + block(2, shape(sizes)) + b"".join(elements)


def attribute(text):
    if match := re.fullmatch(r"(\w+)(\[.*\])<(.*)>", text):
        return block(8, spelled(*match.groups()))
    if match := re.fullmatch(r"(\w+)(\[.*\])\{(.*)\}", text):
        return block(8, tensor(*match.groups()))
    if match := re.fullmatch(r"list\((.*)\)", text):
        parts = [part for part in match[1].split(";") if part]
        if all(part in TYPES for part in parts):
            return block(1, b"".join(number(6, TYPES[part]) for part in parts))
        if parts[0].startswith("@"):
            return block(1, b"".join(block(9, block(1, part[1:])) for part in parts))
        if parts[0].startswith("'"):
            return block(1, b"".join(block(2, part.strip("'")) for part in parts))
        if parts[0].startswith("["):
            return block(1, b"".join(block(7, shape(part)) for part in parts))
        if any("." in part for part in parts):
            floats = struct.pack(f"<{len(parts)}f", *map(float, parts))
            return block(1, block(4, floats))
        return block(1, b"".join(number(3, int(part)) for part in parts))
    if text in TYPES:
        return number(6, TYPES[text])
    if text.startswith("@"):
        return block(10, block(1, text[1:]))
    if text.startswith("$"):
        return block(9, text[1:])
    if text in ("true", "false"):
        return number(5, text == "true")
    if text == "?" or text.startswith("["):
        return block(7, shape(text))
    if text.startswith("'"):
        return block(2, text.strip("'"))
    if re.fullmatch(r"-?\d+", text):
        return number(3, int(text))
    return varint(4 << 3 | 5) + struct.pack("<f", float(text))


def node(line):
    head, _, attributes = line.partition("|")
    name, op, *inputs = head.split()
    out = block(1, name) + block(2, op) + b"".join(block(3, i) for i in inputs)
    for text in attributes.split():
        key, _, value = text.partition("=")
        if key == "@device":
            out += block(4, value)
            continue
        out += block(5, block(1, key) + block(2, attribute(value)))
    return out


def function(line, nodes):
    head, _, controls = line.partition("|")
    parameters, _, results = head.partition("->")
    name, *parameters = parameters.split()[1:]
    results = [result.partition("=")[::2] for result in results.split()]
    signature = block(1, name) + b"".join(block(2, block(1, parameter)) for parameter in parameters)
    signature += b"".join(block(3, block(1, result)) for result, _ in results)
    out = block(1, signature) + b"".join(block(3, node(line)) for line in nodes)
    out += b"".join(block(4, block(1, result) + block(2, tensor)) for result, tensor in results if tensor)
    for control in controls.split():
        key, _, source = control.partition("=")
        out += block(6, block(1, key) + block(2, source))
    return out


def parts(text):
    """The lines of nodes, and for each function its line with those of its nodes."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    nodes, functions = [], []
    while lines:
        line = lines.pop(0)
        if line.startswith("function "):
            end = lines.index("end")
            functions.append((line, lines[:end]))
            lines = lines[end + 1 :]
        else:
            nodes.append(line)
    return nodes, functions


def graph(text):
    nodes, functions = parts(text)
    library = b"".join(block(2, block(1, function(line, own))) for line, own in functions)
    return b"".join(block(1, node(line)) for line in nodes) + library


def main():
    sys.stdout.buffer.write(graph(sys.stdin.read()))


if __name__ == "__main__":
    main()
