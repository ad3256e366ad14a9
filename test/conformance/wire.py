"""Reads the messages of ONNX that the conformance tests need, without a dependency on onnx or protobuf."""

import struct

import numpy as np

TENSOR_DTYPES = {
    1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64,
    9: np.bool_, 10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64, 14: np.complex64,
    15: np.complex128, 16: np.uint16,  # bfloat16: its bits
}
STRING, BFLOAT16 = 8, 16
# Types whose elements are codes in bytes: their bits, and the type that holds them.
CODED = {17: (8, np.uint8), 18: (8, np.uint8), 19: (8, np.uint8), 20: (8, np.uint8), 21: (4, np.uint8), 22: (4, np.int8),
         23: (4, np.uint8), 24: (8, np.uint8), 25: (2, np.uint8), 26: (2, np.int8)}


class Unsupported(Exception):
    """A tensor that NumPy does not have."""


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def fields(data):
    """Yields the number and value of each field: an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 5:
            value, at = data[at:at + 4], at + 4
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def signed(number):
    return number - (1 << 64) if number >= 1 << 63 else number


def numbers(value):
    """The elements of a repeated field of integers, which may be packed."""
    if isinstance(value, int):
        return [signed(value)]
    result, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        result.append(signed(number))
    return result


class Tensor:
    def __init__(self, data):
        self.dims, self.dtype, self.name, self.raw = [], 0, "", None
        self.floats, self.doubles, self.ints = b"", b"", []
        for number, value in fields(data):
            if number == 1:
                self.dims += numbers(value)
            elif number == 2:
                self.dtype = value
            elif number == 4:
                self.floats += value
            elif number in (5, 7, 11):
                self.ints += numbers(value)
            elif number == 8:
                self.name = value.decode()
            elif number == 9:
                self.raw = value
            elif number == 10:
                self.doubles += value

    def codes(self):
        """The elements of a coded type, of which several may be in a byte, the first one in its lowest bits."""
        bits, dtype = CODED[self.dtype]
        packed = np.frombuffer(self.raw, np.uint8) if self.raw is not None else np.array(self.ints).astype(np.uint8)
        shifts = np.arange(0, 8, bits, dtype=np.uint8)
        flat = (packed[:, None] >> shifts & np.uint8((1 << bits) - 1)).reshape(-1)[:int(np.prod(self.dims))]
        if dtype == np.int8:
            flat = np.where(flat >> (bits - 1), flat.astype(int) - (1 << bits), flat.astype(int))
        return flat.astype(dtype).reshape(self.dims)

    def array(self):
        if self.dtype in CODED:
            return self.codes()
        dtype = TENSOR_DTYPES.get(self.dtype)
        if dtype is None:
            raise Unsupported("strings" if self.dtype == STRING else f"type {self.dtype}")
        if self.raw is not None:
            flat = np.frombuffer(self.raw, dtype)
        elif self.floats:
            flat = np.frombuffer(self.floats, np.float32)
        elif self.doubles:
            flat = np.frombuffer(self.doubles, np.float64)
        elif dtype == np.float16:
            flat = np.array(self.ints, np.uint16).view(np.float16)
        else:
            flat = np.array(self.ints).astype(dtype)
        return flat.astype(dtype).reshape(self.dims)


class Value:
    """An input or output: `kind` is "tensor" or what else it is, and sizes in `dims` that are no numbers are None."""

    KINDS = {1: "tensor", 4: "sequences", 5: "maps", 8: "sparse tensors", 9: "optionals"}

    def __init__(self, data):
        self.name, self.kind, self.dtype, self.dims = "", "tensor", 0, None
        for number, value in fields(data):
            if number == 1:
                self.name = value.decode()
            elif number == 2:
                for kind, inner in fields(value):
                    self.kind = self.KINDS.get(kind, self.kind)
                    if kind == 1:
                        self.dtype = dict(fields(inner)).get(1, 0)
                        self.dims = [dict(fields(dim)).get(1) for field, shape in fields(inner) if field == 2
                                     for _, dim in fields(shape)]


class Node:
    def __init__(self, data):
        self.inputs, self.outputs, self.op, self.domain, self.graphs = [], [], "", "", []
        for number, value in fields(data):
            if number == 1:
                self.inputs.append(value.decode())
            elif number == 2:
                self.outputs.append(value.decode())
            elif number == 4:
                self.op = value.decode()
            elif number == 5:
                self.graphs += [Graph(g) for field, g in fields(value) if field == 6]
            elif number == 7:
                self.domain = value.decode()


class Graph:
    def __init__(self, data):
        self.nodes, self.inputs, self.outputs, self.initializers = [], [], [], set()
        for number, value in fields(data):
            if number == 1:
                self.nodes.append(Node(value))
            elif number == 5:
                self.initializers.add(Tensor(value).name)
            elif number == 11:
                self.inputs.append(Value(value))
            elif number == 12:
                self.outputs.append(Value(value))

    def all_nodes(self):
        for node in self.nodes:
            yield node
            for graph in node.graphs:
                yield from graph.all_nodes()


def read_model(path):
    for number, value in fields(path.read_bytes()):
        if number == 7:
            return Graph(value)
    raise ValueError(f"{path} has no graph")


def read_tensor(path):
    return Tensor(path.read_bytes())
