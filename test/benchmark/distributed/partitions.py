"""The steps of compiled partitions: messages of the devices of an entry, and the work between them.

`tfc compile --stop-after=partition` writes the function of each device. This module reads from it the messages with
their types, commits, queues and how variables are used, and estimates the work between them: multiply-adds of products
and bytes of other operations, times the trips of loops.
"""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field

BYTES = {"i1": 1, "i8": 1, "ui8": 1, "i16": 2, "ui16": 2, "f16": 2, "bf16": 2, "i32": 4, "ui32": 4, "f32": 4,
         "i64": 8, "ui64": 8, "f64": 8}
NO_WORK = {"constant", "read", "receive", "send", "reshape", "bind_size", "size", "check", "return", "yield", "commit",
           "await_release", "assign", "list_unstack", "list_size", "list_create", "list_read", "condition", "push",
           "pop", "enqueue", "dequeue", "enqueue_many", "dequeue_many", "iota", "slice", "ensure"}


@dataclass
class Partition:
    device: str  # "/job:ps/task:0/device:cpu:0"
    steps: list = field(default_factory=list)  # see `_read_step`
    access: int = 0  # 0: uses no variables, 1: reads them, 2: changes them


@dataclass(eq=False)
class Entry:
    name: str
    partitions: list = field(default_factory=list)
    slots: dict = field(default_factory=dict)  # number -> (sender, receiver)


def evaluate(expression, sizes):
    """A size, such as `selected_3` or `"-2 * selected + 8"`. Named sizes that are not given are `sizes[None]`, or 1."""
    text = expression.strip().strip('"')
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    known = re.sub(r"[A-Za-z_]\w*", lambda name: str(sizes.get(name.group(), sizes.get(None, 1))), text)
    return max(0, int(eval(known.replace("//", "/").replace("/", "//"), {"__builtins__": {}})))


def dimensions(kind, sizes):
    """tensor<?x128xf32, #dfg.dims<n, 128>> -> ([n, 128], "f32")."""
    inner = kind[len("tensor<"):-1]
    shape, _, named = inner.partition(", #dfg.dims<")
    *static, element = shape.split("x")
    if named:
        return [evaluate(part, sizes) for part in named[:-1].split(",")], element
    return [int(size) for size in static], element


def size_of(kind, sizes):
    count, element = dimensions(kind, sizes)
    total = BYTES[element]
    for size in count:
        total *= size
    return total


_TENSOR = re.compile(r"tensor<[^<>]*(?:#dfg\.dims<[^<>]*>[^<>]*)?>")


def _work(name, line, sizes):
    """Multiply-adds of a product, or bytes that another operation reads and writes. The type of a result is not in the
    line: it is taken to be as large as the largest operand, and for lookups and slices as the smallest."""
    if name in NO_WORK:
        return 0, 0
    kinds = [dimensions(kind, sizes) for kind in _TENSOR.findall(line.rpartition(" : ")[2])]
    counts = []
    for shape, element in kinds:
        count = 1
        for size in shape:
            count *= size
        counts.append(count * BYTES[element])
    if name == "matmul" and len(kinds) == 2:
        (left, _), (right, element) = kinds
        rows = 1
        for size in left:
            rows *= size
        inner = left[-2] if "transpose_lhs = true" in line else left[-1]
        columns = 1
        for size in right:
            columns *= size
        return rows * columns // max(inner, 1), 0
    if name == "convolution":
        return 0, sum(counts)
    if name in ("gather", "slice", "scatter_update", "scatter_add"):
        return 0, 2 * min(counts[:1] + counts[-1:]) if counts else 0
    return 0, 2 * max(counts, default=0)


class _Reader:
    def __init__(self, text, sizes):
        self.sizes, self.entries, self.partition = sizes, {}, None
        self._by_name, self._trips, self._partition_names = {}, [], {}
        for line in text.splitlines():
            self._read(line.strip())
        for entry, names in self._partition_names.items():
            entry.partitions += [self._by_name[name] for name in names]

    def _read(self, line):
        head = re.match(r"dfg\.entry @([\w.\"]+)\(", line)
        if head:
            return self._read_entry(head.group(1), line)
        if self.partition is None:
            return
        if line == "}" or line.startswith("} "):
            if not line.endswith("{"):
                if self._trips:
                    self._trips.pop()
                else:
                    self.partition = None
            return
        self._read_step(line)
        if line.endswith("{"):
            trips = re.search(r"trips = #dfg\.dims<([^>]*)>", line)
            self._trips.append(evaluate(trips.group(1), self.sizes) if trips else 1)

    def _read_entry(self, name, line):
        device = re.search(r'attributes \{.*device = #dfg\.device<"([^"]*)">', line)
        self.partition = Partition(device.group(1) if device else "/job:local/task:0/device:cpu:0")
        self._trips = []
        if "partition_of" in line:
            self._by_name[name] = self.partition
            return
        entry = Entry(name, [self.partition])
        parts = re.search(r"partitions = \[([^\]]*)\]", line)
        self._partition_names[entry] = re.findall(r"@([\w.]+)", parts.group(1)) if parts else []
        slots = re.search(r"slots = \[(.*?)\](?:,|\})", line)
        ends = re.findall(r"slot<(\d+) to (\d+)", slots.group(1)) if slots else []
        for number, (sender, receiver) in enumerate(ends):
            entry.slots[number] = (int(sender), int(receiver))
        self.entries[name] = entry

    def _read_step(self, line):
        """Appends a step: ("send" | "receive" | "await", slot, bytes, is scalar), ("commit",), ("put" | "take", queue,
        count, bytes) or ("work", multiply-adds, bytes)."""
        operation = re.match(r"(?:%[\w:, %#]+ = )?dfg\.(\w+)", line)
        if not operation:
            return
        name, steps = operation.group(1), self.partition.steps
        kinds = _TENSOR.findall(line.rpartition(" : ")[2])
        if name in ("send", "receive", "await_release"):
            slot = int(re.search(r"slot (\d+)", line).group(1))
            is_scalar = dimensions(kinds[0], self.sizes)[0] == []
            steps.append((name, slot, size_of(kinds[0], self.sizes), is_scalar or " copied" in line))
        elif name == "commit":
            steps.append(("commit",))
        elif name in ("enqueue", "enqueue_many", "dequeue", "dequeue_many"):
            queue = re.search(r"@([\w.]+)", line).group(1)
            count = dimensions(kinds[0], self.sizes)[0][0] if name.endswith("many") else 1
            steps.append(("put" if name.startswith("en") else "take", queue, count,
                          sum(size_of(kind, self.sizes) for kind in kinds)))
        else:
            self.partition.access = max(self.partition.access, {"read": 1, "assign": 2}.get(name, 0))
            flops, size = _work(name, line, self.sizes)
            for trips in self._trips:
                flops, size = flops * trips, size * trips
            if steps and steps[-1][0] == "work":
                _, before, bytes_before = steps.pop()
                flops, size = flops + before, size + bytes_before
            if flops or size:
                steps.append(("work", flops, size))


def read(text, sizes=None):
    """The entries of a module after the stage `partition`; `sizes` are those of named sizes, and sizes[None] of all
    others."""
    return _Reader(text, sizes or {}).entries


def compile_partitions(tfc, graph, cluster, sizes=None, *options):
    """The same for graph source."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = os.path.join(folder, "g.graph"), os.path.join(folder, "g.mlir")
        with open(source, "w") as file:
            file.write(graph)
        command = [tfc, "compile", source, "--quiet", "--cluster", cluster, "--stop-after=partition", "-o", output]
        subprocess.run([*command, *options], check=True)
        with open(output) as file:
            return read(file.read(), sizes)
