"""operand_types.py REFERENCE.md: operations accept the element types that the reference lists, and return those.

The example of each operation is repeated with each element type, for the operands that share one. Where the reference
lists a type that is refused, or lacks one that is accepted, that is an error.
"""

import re
import subprocess
import sys

TYPES = {"f32": "f32", "f64": "f64", "f16": "f16", "bf16": "bf16", "i8": "i8", "i16": "i16", "i32": "i32"}
TYPES |= {"i64": "i64", "u8": "ui8", "u16": "ui16", "u32": "ui32", "u64": "ui64", "bool": "i1"}
TENSOR = re.compile(r"tensor<((?:[\d?]+x)*)(\w+)((?:, [^>]*>)?)>")


class Example:
    """An operation of the reference on tensors alone, with its example."""

    def __init__(self, section):
        self.name = re.match(r"`dfg\.(\w+)`", section)[1]
        code = re.search(r"```mlir\n(.*?)```", section, re.S)
        line = re.search(rf"^.*dfg\.{self.name} .*$", code[1], re.M) if code else None
        self.text, _, types = line[0].rpartition(" : ") if line else ("", "", "")
        self.types = [match[0] for match in TENSOR.finditer(types)]
        self.values = re.findall(r"%\w+", self.text.partition("=")[2].partition("{")[0])
        self.operands = listed(section.partition("#### Operands:")[2].partition("####")[0])
        self.results = listed(section.partition("#### Results:")[2].partition("####")[0])
        self.is_called = "In a graph:" in section
        self.has_dtype = "<code>dtype</code>" in section

    def is_testable(self):
        return self.is_called and self.types and len(self.types) == len(self.values) and all(self.operands)

    def listed_for(self, index):
        return self.operands[min(index, len(self.operands) - 1)]

    def groups(self):
        """Operands with the same element type and the same list of types."""
        groups = {}
        for i, tensor in enumerate(self.types):
            groups.setdefault((TENSOR.match(tensor)[2], tuple(self.listed_for(i))), []).append(i)
        return groups.items()

    def function(self, group, element):
        types = list(self.types)
        text = self.text
        if self.name == "bitcast":  # between types of the same width
            text = re.sub(r"dtype = \w+", f"dtype = {element}", text)
        for i in group:
            types[i] = TENSOR.sub(rf"tensor<\g<1>{element}\g<3>>", types[i])
        arguments = ", ".join(f"{value}: {type}" for value, type in dict(zip(self.values, types)).items())
        return f"func.func @f({arguments}) {{\n{text} : {', '.join(types)}\nreturn\n}}\n"


def listed(table):
    """The element types of each row of a table of operands; None for other values than tensors."""
    rows = re.findall(r"^\| `\w+` \| (.*) \|$", table, re.M)
    return [re.findall(r"\b(?:bf|f|i|u)\d+\b|\bbool\b", row) if "tensor of" in row else None for row in rows]


def run(functions):
    """The output of tfc-opt for each function; None if it refuses the function."""
    text = "// -----\n".join(functions)
    done = subprocess.run(
        ["tfc-opt", "--split-input-file", "--mlir-print-op-generic"], input=text, capture_output=True, text=True
    )
    return [result if result.strip() else None for result in done.stdout.split("// -----\n")]


def main():
    text = open(sys.argv[1], encoding="utf-8").read().partition("## Operations")[2]
    examples = [Example(s) for s in re.split(r"^### (?=`dfg)", text, flags=re.M)[1:]]
    examples = [example for example in examples if example.is_testable()]
    cases = [(e, g, d) for e in examples for g in e.groups() for d in TYPES]
    printed = run([e.function(indices, TYPES[d]) for e, (_, indices), d in cases])
    wrong, returned = 0, {}
    for (example, ((_, types), indices), dtype), result in zip(cases, printed):
        if (result is not None) != (dtype in types):
            wrong += 1
            verb = "refuses" if result is None else "accepts"
            print(f"{example.name}: {verb} {dtype} for {example.values[indices[0]]}, but lists {' '.join(types)}")
        if result and (match := re.search(rf'"dfg\.{example.name}".*-> (.*)$', result, re.M)):
            for i, tensor in enumerate(TENSOR.finditer(match[1])):
                returned.setdefault((example, i), set()).add(tensor[2])
    for (example, i), types in returned.items():
        extra = {TYPES[t] for t in example.results[min(i, len(example.results) - 1)] or []} - types
        if extra and not example.has_dtype:
            wrong += 1
            print(f"{example.name}: result {i} is never {' '.join(sorted(extra))}")
    print(f"{len(examples)} operations, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
