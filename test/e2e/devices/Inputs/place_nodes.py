"""place_nodes.py FOLDER OUT SEEDS [OPTION ...]: places the nodes of each recorded case of TensorFlow in the folder that
has control flow or variables at random, once for each seed below SEEDS, and runs it with these options of `tfc run`.
The graphs that it runs stay in OUT, as CASE-SEED.pb. Prints how many of them return TensorFlow's values."""

import pathlib
import random
import re
import subprocess
import sys

# Nodes on lists and queues, by their operations or their names: those that combine the flows of a TensorArray have
# operations like others.
SHARED = re.compile(rb"(.*/)?TensorArray|(Empty)?TensorList|Stack(V2|Push|Pop)|.*Queue")
STATE = re.compile(rb"Variable|VarHandle|VarIsInitialized|Assign|(Resource)?(Sparse)?Apply|Scatter(Add|Sub|Update)")
FLOW = re.compile(rb"(Ref)?Switch|(Stateless)?(While|If)|VariableV2|VarHandleOp|.*QueueV2")


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def write_varint(value):
    text = bytearray()
    while value >= 128:
        text.append(value & 127 | 128)
        value >>= 7
    return bytes(text) + bytes([value])


def split(message):
    """The fields of a message: number, content of a field with a length or None, all bytes of the field."""
    at = 0
    while at < len(message):
        begin = at
        key, at = read_varint(message, at)
        content = None
        if key & 7 == 2:
            length, at = read_varint(message, at)
            content = message[at : at + length]
            at += length
        elif key & 7 == 0:
            _, at = read_varint(message, at)
        else:
            at += 8 if key & 7 == 1 else 4
        yield key >> 3, content, message[begin:at]


def field(number, content):
    return write_varint(number << 3 | 2) + write_varint(len(content)) + content


def text_of(node, wanted):
    """The name (1) or the operation (2) of a node."""
    return next((content for number, content, _ in split(node) if number == wanted), b"")


def is_colocated(node):
    """True if the node has an attribute that says next to which variable it is."""
    return any(number == 5 and b"_class" in content for number, content, _ in split(node))


def has_lists(node):
    """True if an attribute of the node is the type of lists: such nodes add lists, or pass them on."""
    return any(number == 5 and content.endswith(b"\x12\x02\x30\x15") for number, content, _ in split(node))


class Placer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = self.random.choice([2, 2, 3, 4])
        self.share = self.random.choice([0.05, 0.2, 0.5, 1])
        self.shared = self.draw() if self.random.random() < 0.7 else None  # of all lists and queues

    def draw(self):
        number = self.random.randrange(self.count)
        form = self.random.choice(["/device:cpu:%d", "/job:local/task:0/device:CPU:%d", "/cpu:%d"])
        return (form % number).encode()

    def device_of(self, node):
        name, op = text_of(node, 1), text_of(node, 2)
        if SHARED.match(op) or SHARED.match(name) or has_lists(node):
            return self.shared
        if is_colocated(node):
            return None
        isDeclared = op in (b"VariableV2", b"VarHandleOp")  # operations on it are where it is
        if STATE.search(op) and not isDeclared or self.random.random() >= self.share:
            return None
        return self.draw()

    def place(self, node):
        device = self.device_of(node)
        rest = b"".join(text for number, _, text in split(node) if number != 4)
        return rest + field(4, device) if device else rest

    def place_graph(self, graph):
        """Field 1 of a graph has its nodes, field 2 its library, whose field 1 has functions with nodes in field 3."""
        return b"".join(field(1, self.place(node)) if number == 1 else self.place_library(node)
                        if number == 2 else text for number, node, text in split(graph))

    def place_library(self, library):
        def place_function(function):
            return b"".join(field(3, self.place(node)) if number == 3 else text
                            for number, node, text in split(function))

        return field(2, b"".join(field(1, place_function(function)) if number == 1 else text
                                 for number, function, text in split(library)))


def has_flow(graph):
    return any(number == 1 and FLOW.match(text_of(node, 2)) for number, node, _ in split(graph))


def main():
    folder, out, seeds = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    failures = 0
    # Large graphs, which are compressed, would take too long.
    for file in sorted(folder.glob("*/graph.pb")):
        name, graph, case = file.parent.name, file.read_bytes(), file.parent / "case.json"
        if not has_flow(graph):
            continue
        passed = 0
        for seed in range(seeds):
            placed = out / f"{name}-{seed}.pb"
            placed.write_bytes(Placer(f"{name} {seed}").place_graph(graph))
            command = ["tfc", "run", str(placed), "--case", str(case), "--threads=1", *sys.argv[4:]]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            except subprocess.TimeoutExpired:
                print(f"took too long: {' '.join(command)}")
                continue
            passed += done.returncode == 0
            if done.returncode != 0:
                print(f"failed with {done.returncode}: {' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        print(f"{name}: {passed} of {seeds} return TensorFlow's values", flush=True)
        failures += seeds - passed
    sys.exit(failures != 0)


main()
