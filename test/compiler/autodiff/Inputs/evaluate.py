"""Evaluates entries of a dfg module, in the form that `tfc-opt --mlir-print-op-generic` prints.

One operation a line, static sizes, no variables: what the tests of autodiff need, without any code
generation. Lists are Python lists, so the number of operations on elements can be counted.
"""

import math
import re

import numpy as np

DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "i64": np.int64,
    "i32": np.int32,
    "i1": np.bool_,
}


ATTRIBUTE = re.compile(
    r"(\w+) = (\(.*?\) -> .*?|dense<.*?> : \S+|\S*<.*?>|\"[^\"]*\"|[^,]+)(?=, \w+ = |$)"
)


class Failure(Exception):
    """A call that fails."""


class Op:
    def __init__(self, name, operands, attrs, results):
        self.name, self.operands, self.attrs, self.results = name, operands, attrs, results
        self.blocks = []


class Block:
    def __init__(self, arguments):
        self.arguments, self.ops = arguments, []


def parse_type(text):
    """Shape and dtype of a tensor; of a list's elements."""
    parts = re.search(r"tensor<((?:\d+x)*)(\w+)>", text)
    shape = tuple(int(size) for size in parts[1].split("x")[:-1])
    return shape, DTYPES[parts[2]]


def split_names(text):
    return re.findall(r"%[\w#]+", text)


def parse_results(text):
    """Names of results, from the text before '='."""
    match = re.match(r"(%\w+)(?::(\d+))?$", text)
    if not match[2]:
        return [match[1]]
    return [f"{match[1]}#{i}" for i in range(int(match[2]))]


def split_types(text):
    """Types of a comma-separated list, which may nest angle brackets."""
    types, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<(") - (c in ">)" and text[i - 1] != "-")
        if c == "," and depth == 0:
            types.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return types + [last] if last else types


def finish(op, text):
    """Attributes and result types after the operands or regions."""
    match = re.match(r"\s*(?:\{(.*)\} )?:? ?: ?\((.*?)\) -> (.*)$", " " + text) or re.match(
        r"\s*(?:\{(.*)\})? ?: \((.*)\) -> (.*)$", text
    )
    op.flags = match[1] or ""
    if match[1]:
        op.attrs.update(ATTRIBUTE.findall(match[1]))
    types = match[3]
    op.types = split_types(types[1:-1] if types.startswith("(") else types)


def parse(text):
    """The entries of a module by name."""
    entries, stack = {}, []
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith(("#", "//")):
            continue
        if line.startswith("^"):
            stack[-1].blocks[-1].arguments = split_names(re.sub(r"tensor<.*?>", "", line))
        elif line.startswith("}, {"):
            stack[-1].blocks.append(Block([]))
        elif line.startswith("})"):
            op = stack.pop()
            finish(op, line[2:])
            if op.name == "dfg.entry":
                entries[op.attrs["sym_name"].strip('"')] = op
        else:
            parse_op(line, stack)
    return entries


def parse_op(line, stack):
    match = re.match(r'(?:(\S+) = )?"([\w.]+)"\((.*?)\)(.*)$', line)
    op = Op(match[2], split_names(match[3]), {}, parse_results(match[1]) if match[1] else [])
    if stack and stack[-1].blocks:
        stack[-1].blocks[-1].ops.append(op)
    if match[4].endswith("({"):
        op.blocks.append(Block([]))
        stack.append(op)
    else:
        finish(op, match[4])


def dims(op, name):
    return tuple(int(n) for n in re.findall(r"-?\d+", op.attrs[name]))


def axes(op):
    if "axis" not in op.attrs:
        return None
    text = op.attrs["axis"].partition(":")
    return tuple(int(n) for n in re.findall(r"-?\d+", text[2] if "array" in text[0] else text[0]))


def reduce(function):
    def compute(machine, op, x):
        keep = op.attrs.get("keep_dims") == "true"
        return function(x, axis=axes(op), keepdims=keep)

    return compute


def plain(function):
    return lambda machine, op, *operands: function(*operands)


def constant(machine, op):
    text = re.match(r"dense<(.*)> : (\S+)$", op.attrs["value"])
    shape, dtype = parse_type(text[2])
    value = text[1].replace("true", "1").replace("false", "0")
    if value.startswith('"'):  # the bytes of the elements
        return np.frombuffer(bytes.fromhex(value[3:-1]), dtype).reshape(shape)
    return np.broadcast_to(np.array(eval(value), dtype), shape)


def cast(machine, op, x):
    return x.astype(DTYPES[op.attrs["dtype"]])


def broadcast(machine, op, x):
    return np.broadcast_to(x, dims(op, "shape"))


def transpose(machine, op, x):
    if "permutation" not in op.attrs:
        return x.T
    return np.transpose(x, dims(op, "permutation")[1:])  # without the 64 of 'i64'


def matmul(machine, op, a, b):
    a = np.swapaxes(a, -1, -2) if op.attrs.get("transpose_lhs") == "true" else a
    b = np.swapaxes(b, -1, -2) if op.attrs.get("transpose_rhs") == "true" else b
    return a @ b


def size(machine, op):
    return np.array(dims(op, "value")[0], DTYPES[op.attrs["dtype"]])


def iota(machine, op):
    return np.arange(dims(op, "size")[0], dtype=DTYPES[op.attrs.get("dtype", "i32")])


def gather(machine, op, x, indices):
    axis = axes(op)[0] if axes(op) else 0
    machine.count(np.size(indices) * x.size // x.shape[axis])
    return np.take(x, np.clip(indices, 0, x.shape[axis] - 1), axis=axis)


def slice_of(machine, op, x):
    starts, sizes = dims(op, "starts"), dims(op, "sizes")
    steps = dims(op, "steps")[1:] if "steps" in op.attrs else [1] * len(sizes)  # without the 64 of 'i64'
    for axis, (start, size, step) in enumerate(zip(starts, sizes, steps)):
        x = np.take(x, start + step * np.arange(size), axis=axis)
    return x


def scatter_add(machine, op, x, indices, updates):
    y = x.copy()  # done in place, as far as the count of operations is concerned
    np.add.at(y, indices, updates)
    machine.count(updates.size)
    return y


def element(op):
    return parse_type(op.types[0])


def list_create(machine, op, count):
    shape, dtype = element(op)
    machine.count(max(int(count), 0) * math.prod(shape))
    return [np.zeros(shape, dtype)] * max(int(count), 0)


def list_read(machine, op, values, index):
    if not 0 <= index < len(values):
        raise Failure("list_read")
    machine.count(values[index].size)
    return values[index]


def list_write(machine, op, values, index, value):
    if not 0 <= index <= len(values):
        raise Failure("list_write")
    machine.count(value.size)
    return values[:index] + [value] + values[index + 1 :]


def list_add(machine, op, values, index, value):
    if not 0 <= index < len(values):
        raise Failure("list_add")
    machine.count(value.size)
    return values[:index] + [values[index] + value] + values[index + 1 :]


def list_sum(machine, op, a, b):
    if len(a) < len(b):
        a, b = b, a
    machine.count(sum(value.size for value in a))
    return [x + y for x, y in zip(a, b)] + a[len(b) :]


def list_stack(machine, op, values):
    shape, dtype = element(op)
    if "prefix" in op.flags:
        values = values[: shape[0]]
    if len(values) != shape[0]:
        raise Failure("list_stack")
    return np.array(values, dtype).reshape(shape)


def check(machine, op, condition, *shown):
    if not condition:
        raise Failure(op.attrs["message"])


COMPUTE = {
    "constant": constant,
    "size": size,
    "iota": iota,
    "cast": cast,
    "broadcast": broadcast,
    "transpose": transpose,
    "matmul": matmul,
    "reshape": lambda machine, op, x: x.reshape(dims(op, "shape")),
    "sum": reduce(np.sum),
    "mean": reduce(np.mean),
    "all": reduce(np.all),
    "gather": gather,
    "slice": slice_of,
    "scatter_add": scatter_add,
    "list_create": list_create,
    "list_size": lambda machine, op, values: np.array(len(values), np.int32),
    "list_read": list_read,
    "list_write": list_write,
    "list_add": list_add,
    "list_sum": list_sum,
    "list_stack": list_stack,
    "list_unstack": lambda machine, op, x: list(x),
    "check": check,
    "select": plain(np.where),
    "add": plain(np.add),
    "sub": plain(np.subtract),
    "mul": plain(np.multiply),
    "div": plain(np.divide),
    "neg": plain(np.negative),
    "square": plain(np.square),
    "exp": plain(np.exp),
    "tanh": plain(np.tanh),
    "sin": plain(np.sin),
    "cos": plain(np.cos),
    "sigmoid": plain(lambda x: 1 / (1 + np.exp(-x))),
    "less": plain(np.less),
    "less_equal": plain(np.less_equal),
    "greater": plain(np.greater),
    "greater_equal": plain(np.greater_equal),
    "equal": plain(np.equal),
    "logical_and": plain(np.logical_and),
    "stop_gradient": plain(lambda x: x),
}


class Machine:
    """Runs entries; `work` counts elements, `most` is the most that tapes held at a time."""

    def __init__(self):
        self.values, self.tapes, self.work, self.held, self.most = {}, {}, 0, 0, 0

    def count(self, elements):
        self.work += int(elements)

    def run(self, entry, arguments):
        result = self.run_block(entry.blocks[0], arguments)
        left = {name for name, tape in self.tapes.items() if tape}
        assert not left, f"tapes that are not empty: {left}"
        return result

    def run_block(self, block, arguments):
        self.values.update(zip(block.arguments, arguments))
        for op in block.ops:
            operands = [self.values[name] for name in op.operands]
            if op.name in ("dfg.yield", "dfg.condition", "dfg.return"):
                return operands
            results = self.run_op(op, operands)
            for name, result, type in zip(op.results, results, op.types):
                if not isinstance(result, list):
                    shape, dtype = parse_type(type)
                    result = np.asarray(result, dtype)
                    assert result.shape == shape, (op.name, result.shape, shape)
                self.values[name] = result
        return []

    def run_op(self, op, operands):
        name = op.name.removeprefix("dfg.")
        if name == "if":
            return self.run_block(op.blocks[0 if operands[0] else 1], [])
        if name == "while":
            while self.run_block(op.blocks[0], operands)[0]:
                operands = self.run_block(op.blocks[1], operands)
            return operands
        if name == "push":
            self.tapes.setdefault(op.attrs["tape"], []).append(operands[0])
            self.held += operands[0].nbytes
            self.most = max(self.most, self.held)
            return []
        if name == "pop":
            value = self.tapes[op.attrs["tape"]].pop()
            self.held -= value.nbytes
            return [value]
        result = COMPUTE[name](self, op, *operands)
        if op.results and not isinstance(result, list) and not name.startswith("scatter"):
            self.count(np.size(result))
        return [result]
