"""calls.py REFERENCE.md FOLDER: the calls that the reference shows are calls of the language.

Each call is made on operands of the types of the operation's example, with its attributes, and otherwise with the
defaults that the reference shows.
"""

import os
import re
import subprocess
import sys

from operand_types import TENSOR, TYPES, Example

NAMES = {mlir: name for name, mlir in TYPES.items()}


def type_of(tensor):
    match = TENSOR.match(tensor)
    named = re.search(r"#dfg\.dims<(.*?)>", tensor)
    sizes = named[1] if named else match[1].rstrip("x").replace("x", ", ")
    return NAMES[match[2]] + (f"[{sizes}]" if sizes else "")


def value_of(text):
    """A value of MLIR as one of the language."""
    if listed := re.fullmatch(r"#dfg\.dims<(.*)>|array<i\d+(?:: )?(.*)>", text):
        return f"[{listed[1] or listed[2] or ''}]"
    if word := re.fullmatch(r"#dfg\.(?!dims)\w+<(\w+)>", text):
        return f"\"{word[1]}\""
    text = re.sub(r" : \w+$", "", text)
    return NAMES.get(text, text)


def attributes_of(example):
    inside = re.search(r" \{(.*)\}", re.sub(r"sizes = \{(.*?)\}", r"\1", example.text))
    items = re.findall(r"(\w+) = ((?:[^,<\"]|<[^>]*>|\"[^\"]*\")+)", inside[1] if inside else "")
    return {name: value_of(value.strip()) for name, value in items}


def argument(text, values, attributes, results):
    """The argument that the reference shows as `text`; None if it may be left out."""
    name, _, default = text.partition(": ")
    if text == "type":
        return f"{results[0]}{attributes['shape']}"
    if text == "NAME: SIZE..":
        sizes = {name: value[1:-1] for name, value in attributes.items() if name != "pattern"}
        return ", ".join(f"{name}: {size}" for name, size in sizes.items())
    if not default:
        return ", ".join(values) if text.endswith("..") else values.pop(0)
    value = attributes.get(name, None if default == ".." else default)
    return f"{name}: {value}" if value is not None else None


def program(example, call):
    """An entry with the call."""
    results, arguments = re.fullmatch(r"(.*) = \w+\((.*)\)", call).groups()
    values = [value.removeprefix("%") + "_" for value in example.values]
    feeds = ", ".join(f"{value}: {type_of(type)}" for value, type in dict(zip(values, example.types)).items())
    if "dims<n" in example.text and "n, " not in feeds:
        feeds += ", sized: f32[n]"
    shown = [t for t in re.findall(r"(?:[^,\"]|\"[^\"]*\")+", arguments) if t.strip()]
    given = [argument(t.strip(), values, attributes_of(example), example.results[0] or [""]) for t in shown]
    given = ", ".join(g for g in given if g is not None)
    names = ", ".join(f"r{i}" for i in range(len(results.split(", "))))
    return f"entry f({feeds}) {{\n  {names} = {example.name}({given})\n}}\n"


def main():
    page, folder = sys.argv[1:]
    text = open(page, encoding="utf-8").read().partition("## Operations")[2]
    count = wrong = 0
    for section in re.split(r"^### (?=`dfg)", text, flags=re.M)[1:]:
        example, call = Example(section), re.search(r"In a graph:\n\n```\n(.*)\n```", section)
        if not call or not example.text or "list" in example.name or None in example.operands:
            continue
        count += 1
        path = os.path.join(folder, f"{example.name}.graph")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program(example, call[1]))
        done = subprocess.run(
            ["tfc", "compile", path, "--emit=graph", "-o", "-"], capture_output=True, text=True
        )
        if done.returncode:
            wrong += 1
            print(f"{call[1]}\n{done.stderr}")
    print(f"{count} calls, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
