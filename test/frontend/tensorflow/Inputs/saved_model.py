"""Writes a SavedModel from text: saved_model.py FOLDER [OPTION...] < TEXT

The lines are nodes and functions as graphdef.py reads them, and these:

    graph serve gpu                      begins a graph with tags; without it there is one with the tag serve
    signature f: x=x:0 -> y=y:0          by the names that callers see; x=x:0? is of unknown rank
    restore w layer/w                    the variable w takes the tensor layer/w; words after that are its slice
    trainable w                          TensorFlow 1's list of the variables that are trained
    collection saved_model_main_op init  a list of nodes
    asset name:0 vocabulary.txt          the tensor with the name of a file
    object 0 layer=1                     an object of the program and its children, by number
    object 1 fixed                       a variable that is not trained; `trained` is one that is
    captures f 1 2                       the objects whose tensors are the last parameters of the function f
    stored 0 layer=1                     an object of the checkpoint and its children
    stored 1 key=layer/w                 the key of its tensor
    tensor layer/w f32[2]{1,2}           a tensor of the checkpoint; an option follows: @1 is its file
    part p [4,2] 0,2:- f32[2,2]{1,2,3,4} a part of the tensor p of these sizes

Options: `big-endian`; `files=2`, the number of files; `version=2`, the format that a reader must know; `snappy` says that
the blocks of the index are compressed; `index-checksum` and `checksum=KEY` are wrong there; `unsorted` keys.
"""

import os
import re
import struct
import sys

import graphdef
from protobuf import block, number, varint

BLOCK, RESTART = 3, 2  # entries in a block of the index, and from one whole key to the next


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def table(entries, options):
    """A table of LevelDB."""
    out = b""

    def add(entries):
        nonlocal out
        content, restarts, last = b"", [], b""
        for i, (key, value) in enumerate(entries):
            shared = 0 if i % RESTART == 0 else len(os.path.commonprefix([key, last]))
            if shared == 0:
                restarts.append(len(content))
            content += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
            last = key
        content += struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))
        content += b"\1" if "snappy" in options else b"\0"
        handle = varint(len(out)) + varint(len(content) - 1)
        out += content + struct.pack("<I", masked_crc(content) ^ ("index-checksum" in options))
        return handle

    keys = sorted(entries)
    if "unsorted" in options:
        keys.reverse()
    blocks = [keys[i : i + BLOCK] for i in range(0, len(keys), BLOCK)]
    index = [(keys[-1], add([(key, entries[key]) for key in keys])) for keys in blocks]
    handles = add([]) + add(index)
    return out + handles.ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)


def ordered(value):
    """A number as the keys of parts encode it."""
    length = (~value if value < 0 else value).bit_length() // 7 + 1
    bits = int("1" * length + "0" * (7 * length), 2)
    return ((value & ((1 << 8 * length) - 1)) ^ bits).to_bytes(length, "big")


class Checkpoint:
    def __init__(self, options):
        self.options = options
        self.files = [b""] * int(options.get("files", "1"))
        self.entries, self.parts, self.objects = {}, {}, b""

    def store(self, text, file=0):
        """Returns the entry of a tensor."""
        dtype, sizes, values = re.fullmatch(r"(\w+)(\[.*\])\{(.*)\}", text).groups()
        numbers = [float(v) if dtype[0] == "f" else int(v) for v in values.split(",") if v]
        order = ">" if "big-endian" in self.options else "<"
        data = struct.pack(f"{order}{len(numbers)}{graphdef.PACKED[dtype]}", *numbers)
        out = number(1, graphdef.TYPES[dtype]) + block(2, graphdef.shape(sizes)) + number(3, file)
        out += number(4, len(self.files[file])) + number(5, len(data))
        self.files[file] += data
        return out, masked_crc(data)

    def add_tensor(self, key, text, option="@0"):
        entry, crc = self.store(text, int(option[1:]))
        self.entries[key.encode()] = entry + self.checksum(key, crc)

    def add_object(self, *fields):
        pairs = [field.partition("=")[::2] for field in fields]
        children = [block(1, number(1, int(child)) + block(2, name)) for name, child in pairs if name != "key"]
        keys = [block(2, block(1, "VARIABLE_VALUE") + block(3, key)) for name, key in pairs if name == "key"]
        self.objects += block(1, b"".join(children + keys))

    def store_text(self, key, text):
        order = ">" if "big-endian" in self.options else "<"
        length = struct.pack(order + "I", len(text))
        checksum = struct.pack(order + "I", masked_crc(length))
        data = varint(len(text)) + checksum + text
        entry = number(1, graphdef.TYPES["string"]) + block(2, b"") + number(4, len(self.files[0])) + number(5, len(data))
        self.files[0] += data
        self.entries[key.encode()] = entry + self.checksum(key, masked_crc(length + checksum + text))

    def checksum(self, key, crc):
        return varint(6 << 3 | 5) + struct.pack("<I", crc ^ (self.options.get("checksum") == key))

    def add_part(self, key, sizes, place, text):
        entry, crc = self.store(text)
        extents = [(0, -1) if e == "-" else tuple(map(int, e.split(","))) for e in place.split(":")]
        encoded = b"\0" + key.encode() + b"\0\1" + bytes([1, len(extents)])
        encoded += b"".join(ordered(start) + ordered(length) for start, length in extents)
        self.entries[encoded] = entry + self.checksum(key, crc)
        described = [number(1, start) + (number(2, length) if length >= 0 else b"") for start, length in extents]
        whole = number(1, graphdef.TYPES[text.split("[")[0]]) + block(2, graphdef.shape(sizes))
        self.parts.setdefault(key.encode(), [whole]).append(b"".join(block(1, extent) for extent in described))

    def write(self, prefix):
        if self.objects:
            self.store_text("_CHECKPOINTABLE_OBJECT_GRAPH", self.objects)
        for key, (whole, *slices) in self.parts.items():
            self.entries[key] = whole + b"".join(block(7, extents) for extents in slices)
        version = block(3, number(2, int(self.options.get("version", "1"))))
        self.entries[b""] = number(1, len(self.files)) + number(2, "big-endian" in self.options) + version
        with open(prefix + ".index", "wb") as file:
            file.write(table(self.entries, self.options))
        for i, data in enumerate(self.files):
            with open(f"{prefix}.data-{i:05}-of-{len(self.files):05}", "wb") as file:
                file.write(data)


def info(text):
    name, _, tensor = text.partition("=")
    rank = block(3, number(3, 1)) if tensor.endswith("?") else b""
    return block(1, name) + block(2, block(1, tensor.rstrip("?")) + number(2, 1) + rank)


def signature(line):
    key, _, rest = line.partition(":")
    feeds, _, fetches = rest.partition("->")
    tensors = [block(i + 1, info(t)) for i, texts in enumerate((feeds, fetches)) for t in texts.split()]
    return block(5, block(1, key) + block(2, b"".join(tensors)))


def texts(values):
    values = b"".join(block(8, value) for value in values)
    return block(5, block(1, "value") + block(2, block(8, number(1, 7) + values)))


def saver(restored, lines):
    """Nodes that restore variables."""
    def node(name, op, *inputs):
        return block(1, name) + block(2, op) + b"".join(block(3, i) for i in inputs)

    handles = {line.split()[0] for line in lines if line.split()[1:2] == ["VarHandleOp"]}
    nodes = [node("save/file", "Placeholder"),
             node("save/keys", "Const") + texts([key for _, key, *_ in restored]),
             node("save/slices", "Const") + texts([" ".join(slice) for _, _, *slice in restored]),
             node("save/RestoreV2", "RestoreV2", "save/file", "save/keys", "save/slices")]
    for i, (variable, *_) in enumerate(restored):
        op = "AssignVariableOp" if variable in handles else "Assign"
        nodes += [node(f"save/value_{i}", "Identity", f"save/RestoreV2:{i}"),
                  node(f"save/assign_{i}", op, variable, f"save/value_{i}")]
    nodes.append(node("save/restore_all", "NoOp", *(f"^save/assign_{i}" for i in range(len(restored)))))
    return b"".join(block(1, node) for node in nodes)


def meta_graph(tags, lines):
    nodes, restored, trained, objects, out = [], [], [], b"", b""
    for line in lines:
        word, *rest = line.split()
        if word == "signature":
            out += signature(line[len(word) :].strip())
        elif word == "restore":
            restored.append(rest)
        elif word == "trainable":
            trained.append(block(1, block(1, rest[0] + ":0")))
        elif word == "collection":
            out += block(4, block(1, rest[0]) + block(2, block(1, b"".join(block(1, node) for node in rest[1:]))))
        elif word == "asset":
            out += block(6, block(1, block(1, rest[0])) + block(2, rest[1]))
        elif word == "object":
            kinds = [block(7, number(3, kind == "trained")) for kind in rest[1:] if "=" not in kind]
            pairs = [kind.partition("=")[::2] for kind in rest[1:] if "=" in kind]
            children = [block(1, number(1, int(child)) + block(2, name)) for name, child in pairs]
            objects += block(1, b"".join(children + kinds))
        elif word == "captures":
            function = block(1, rest[0]) + block(2, b"".join(number(2, int(captured)) for captured in rest[1:]))
            objects += block(2, function)
        else:
            nodes.append(line)
    if trained:
        out += block(4, block(1, "trainable_variables") + block(2, block(2, b"".join(trained))))
    graph = graphdef.graph("\n".join(nodes)) + (saver(restored, nodes) if restored else b"")
    out += block(1, b"".join(block(4, tag) for tag in tags)) + block(2, graph) + block(7, objects)
    return out + block(3, block(1, "save/file:0") + block(3, "save/restore_all"))


def main():
    folder, *options = sys.argv[1:]
    options = dict(option.partition("=")[::2] for option in options)
    checkpoint, graphs = Checkpoint(options), [(["serve"], [])]
    for line in sys.stdin.read().splitlines():
        line = line.split("#")[0].strip()
        word, *rest = line.split() or [""]
        if word == "graph":
            graphs = [graph for graph in graphs if graph[1]] + [(rest, [])]
        elif word == "tensor":
            checkpoint.add_tensor(*rest)
        elif word == "stored":
            checkpoint.add_object(*rest[1:])
        elif word == "part":
            checkpoint.add_part(*rest)
        elif word:
            graphs[-1][1].append(line)
    os.makedirs(os.path.join(folder, "variables"), exist_ok=True)
    with open(os.path.join(folder, "saved_model.pb"), "wb") as file:
        file.write(number(1, 1) + b"".join(block(2, meta_graph(*graph)) for graph in graphs))
    if checkpoint.entries or checkpoint.parts:
        checkpoint.write(os.path.join(folder, "variables", "variables"))


if __name__ == "__main__":
    main()
