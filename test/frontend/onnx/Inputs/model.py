"""Writes an ONNX model from text: model.py < TEXT > model.onnx

    opset 17
    graph inner             # graphs that attributes name come first, as @inner; the last one is the model's
    output y
    y = Neg x
    graph main
    input x f32[2,n]        # ? is a size without a name; without brackets the shape is unknown
    init w f32[2] 1 2
    draw u f32[2,3] 0 0.5   # drawn by its name (draw.py), with this mean and deviation
    external v f32[2] location=weights.bin offset=8
    c, d = Split x | axis=0 value=i64[2]{1,2} mode="edge" scales=[1.0,2.0] then_branch=@inner
    z = own.Twice c         # an operation of the domain `own`
    output z

`function own.Twice x -> y` begins the nodes of a function, whose attributes are `&name` in its nodes. `-` is an
absent input or output.
"""

import os
import re
import struct
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
from protobuf import block as data, number, varint

TYPES = dict(f32=1, u8=2, i8=3, u16=4, i16=5, i32=6, i64=7, string=8, bool=9, f16=10, f64=11, u32=12, u64=13, c64=14, bf16=16,
             e4m3fn=17, e4m3fnuz=18, e5m2=19, e5m2fnuz=20, u4=21, i4=22, e2m1=23, e8m0=24, u2=25, i2=26)
FORMATS = dict(f32="f", u8="B", i8="b", u16="H", i16="h", u32="I", i32="i", u64="Q", i64="q", bool="?", f64="d")


def real(field, value):
    return varint(field << 3 | 5) + struct.pack("<f", value)


def tensor(name, kind, dims, elements):
    out = data(8, name) + number(2, TYPES[kind])
    for dim in dims:
        out += number(1, dim)
    convert = float if kind.startswith("f") else int
    if kind in FORMATS:
        out += data(9, b"".join(struct.pack("<" + FORMATS[kind], convert(e)) for e in elements))
    return out


def dims_of(text):
    return [int(dim) for dim in text.split(",") if dim]


def drawn(name, dims, mean, deviation):
    import draw  # needs NumPy, which most models do without

    return tensor(name, "f32", dims, draw.spread(name, dims, float(mean), float(deviation)).ravel())


def value_info(name, text):
    kind, shape = re.fullmatch(r"(\w+)(?:\[(.*)\])?", text).groups()
    inner = number(1, TYPES[kind])
    if shape is not None:
        dims = b""
        for dim in [d for d in shape.split(",") if d]:
            dims += data(1, b"" if dim == "?" else number(1, int(dim)) if re.fullmatch(r"-?\d+", dim) else data(2, dim))
        inner += data(2, dims)
    return data(1, name) + data(2, data(1, inner))


def attribute(text, graphs):
    name, value = text.split("=", 1)
    out = data(1, name)
    if value.startswith("&"):
        return out + data(21, value[1:]) + number(20, 2)
    if value.startswith("@"):
        return out + data(6, graphs[value[1:]]) + number(20, 5)
    if value.startswith('"'):
        return out + data(4, value.strip('"')) + number(20, 3)
    if found := re.fullmatch(r"(\w+)\[([\d,-]*)\]\{(.*)\}", value):
        kind, dims, elements = found.groups()
        return out + data(5, tensor("", kind, dims_of(dims), elements.split(",") if elements else [])) + number(20, 4)
    if value.startswith("["):
        elements = [e for e in value.strip("[]").split(",") if e]
        if any(e.startswith('"') for e in elements):
            return out + b"".join(data(9, e.strip('"')) for e in elements) + number(20, 8)
        if any("." in e for e in elements):
            return out + b"".join(real(7, float(e)) for e in elements) + number(20, 6)
        return out + b"".join(number(8, int(e)) for e in elements) + number(20, 7)
    if re.fullmatch(r"-?\d+", value):
        return out + number(3, int(value)) + number(20, 2)
    return out + real(2, float(value)) + number(20, 1)


def names(text):
    return ["" if name == "-" else name for name in text.replace(",", " ").split()]


def node(line, graphs):
    outputs, rest = line.split(" = ", 1)
    call, _, attributes = rest.partition("|")
    op, *inputs = call.split()
    domain, _, op = op.rpartition(".")
    out = b"".join(data(1, "" if i == "-" else i) for i in inputs)
    out += b"".join(data(2, o) for o in names(outputs)) + data(4, op)
    out += b"".join(data(5, attribute(a, graphs)) for a in attributes.split())
    return out + (data(7, domain) if domain else b"")


def main():
    graphs, functions, current, name, opset, is_function = {}, [], b"", "main", 17, False

    def finish():
        if is_function:
            functions.append(current)
        else:
            graphs[name] = current

    for line in sys.stdin.read().splitlines():
        line = line.split("#")[0].strip()
        word, _, rest = line.partition(" ")
        if word == "opset":
            opset = int(rest)
        elif word in ("graph", "function"):
            if current:
                finish()
            is_function = word == "function"
            name = rest
            current = data(2, name)
            if is_function:
                name, inputs, outputs = re.fullmatch(r"(\S+) (.*)-> (.*)", rest).groups()
                domain, _, op = name.rpartition(".")
                current = data(1, op) + data(10, domain) + data(9, data(1, "") + number(2, opset))
                current += data(9, data(1, domain) + number(2, 1))
                current += b"".join(data(4, i) for i in inputs.split()) + b"".join(data(5, o) for o in outputs.split())
        elif word in ("input", "output"):
            value, _, text = rest.partition(" ")
            current += data(11 if word == "input" else 12, value_info(value, text) if text else data(1, value))
        elif word in ("init", "draw", "external"):
            value, text, *elements = rest.split()
            kind, dims = re.fullmatch(r"(\w+)\[(.*)\]", text).groups()
            if word == "draw":
                written = drawn(value, dims_of(dims), *elements)
            else:
                written = tensor(value, kind, dims_of(dims), elements if word == "init" else [])
            if word == "external":
                written += number(14, 1) + b"".join(data(13, data(1, e.split("=")[0]) + data(2, e.split("=")[1]))
                                                    for e in elements)
            current += data(5, written)
        elif line:
            written = node(line, graphs)
            current += data(7 if is_function else 1, written)
    finish()
    out = number(1, 8) + data(7, graphs[name]) + data(8, data(1, "") + number(2, opset))
    out += data(8, data(1, "own") + number(2, 1)) + data(8, data(1, "com.microsoft") + number(2, 1)) + b"".join(data(25, f) for f in functions)
    sys.stdout.buffer.write(out)


main()
