"""errors.py TEST SCHEMA FOLDER: reads graphs that the lines `CASE:` of a test describe, and prints the errors.

Each line changes a small valid graph, which it names in JSON: `CASE: entries.0.nodes.0.operation = "nope"; edition = 2`.
`+` instead of a number adds an element, `-` removes a field, and `base NAME` starts from another graph below.
"""

import copy
import json
import os
import subprocess
import sys

F32, F32_8, I64, TOKEN, ELEMENT, BOOL, LIST, SYMBOLIC, WEIGHTS = range(9)
TYPES = [
    {"element": "f32", "sizes": [{"value": 4}]},
    {"element": "f32", "sizes": [{"value": 8}]},
    {"element": "i64"},
    {"kind": "Token"},
    {"kind": "Element", "element": "f32"},
    {"element": "bool"},
    {"kind": "List", "element": "f32", "sizes": [{"value": 4}]},
    {"element": "f32", "sizes": [{"formula": "n"}]},
    {"element": "f32", "sizes": [{"value": 2}, {"value": 2}]},
]


def graph(values, feeds, nodes, returned, declarations=()):
    return {
        "edition": 1,
        "name": "g",
        "types": TYPES,
        "places": [],
        "declarations": list(declarations),
        "entries": [
            {
                "name": "main",
                "values": values,
                "sizes": [{"name": "n", "bound": 8}],
                "facts": [],
                "feeds": [{"name": f"x{i}", "value": i} for i in range(feeds)],
                "fetches": [{"name": f"y{i}"} for i in range(len(returned))],
                "nodes": nodes + [{"operation": "return", "operands": returned}],
            }
        ],
    }


def attribute(name, kind, **value):
    return {"name": name, "value_type": kind, "value": value}


def region(nodes, arguments=()):
    return {"arguments": [{"value": i} for i in arguments], "nodes": nodes}


BASES = {
    "neg": graph([F32, F32], 1, [{"operation": "neg", "operands": [0], "results": [1]}], [1]),
    "sum": graph(
        [WEIGHTS, I64],
        1,
        [
            {
                "operation": "sum",
                "operands": [0],
                "results": [1],
                "attributes": [attribute("axis", "IntList", values=[0])],
            }
        ],
        [1],
    ),
    "constant": graph(
        [F32],
        0,
        [
            {
                "operation": "constant",
                "results": [0],
                "attributes": [attribute("value", "ConstantValue", value={"type": F32, "data": [0] * 16})],
            }
        ],
        [0],
    ),
    "if": graph(
        [F32, BOOL, F32, F32],
        2,
        [
            {
                "operation": "if",
                "operands": [1],
                "results": [2],
                "regions": [
                    region(
                        [
                            {"operation": "neg", "operands": [0], "results": [3]},
                            {"operation": "yield", "operands": [3]},
                        ]
                    ),
                    region([{"operation": "yield", "operands": [0]}]),
                ],
            }
        ],
        [2],
    ),
    "dataflow": graph(
        [F32, F32, F32],
        1,
        [
            {
                "operation": "dataflow",
                "results": [1],
                "regions": [
                    region(
                        [
                            {"operation": "neg", "operands": [0], "results": [2]},
                            {"operation": "yield", "operands": [2]},
                        ]
                    )
                ],
            }
        ],
        [1],
    ),
    "variable": graph(
        [F32],
        0,
        [
            {
                "operation": "read",
                "results": [0],
                "attributes": [attribute("variable", "SymbolValue", value="w")],
            }
        ],
        [0],
        [
            {
                "declared_type": "Variable",
                "declared": {"name": "w", "type": F32, "initial": {"type": F32, "data": [0] * 16}},
            }
        ],
    ),
    "queue": graph(
        [F32],
        0,
        [
            {
                "operation": "dequeue",
                "results": [0],
                "attributes": [attribute("queue", "SymbolValue", value="q")],
            }
        ],
        [0],
        [
            {
                "declared_type": "Node",
                "declared": {
                    "operation": "queue",
                    "attributes": [
                        attribute("sym_name", "TextValue", value="q"),
                        attribute(
                            "components",
                            "AttributeList",
                            values=[{"value_type": "TypeValue", "value": {"type": F32}}],
                        ),
                        attribute(
                            "names",
                            "AttributeList",
                            values=[{"value_type": "TextValue", "value": {"value": "x"}}],
                        ),
                        attribute("kind", "TextValue", value="fifo"),
                        attribute("capacity", "IntValue", value=4),
                    ],
                },
            }
        ],
    ),
}


def change(root, path, value):
    """Sets the element at a path; a value of None removes it."""
    *folders, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in folders:
        root = root[step]
    if last == "+":
        root.append(value)
    elif value is None:
        del root[last]
    else:
        root[last] = value


def build(case):
    pieces = [piece.strip() for piece in case.split(" ; ")]
    base = "neg"
    if pieces[0].startswith("base "):
        base = pieces.pop(0).split()[1]
    built = copy.deepcopy(BASES[base])
    for piece in pieces:
        path, _, value = piece.partition(" = ")
        change(built, path, json.loads(value) if value else None)
    return built


def main():
    test, schema, folder = sys.argv[1:]
    with open(test, encoding="utf-8") as file:
        cases = [line.removeprefix("CASE: ").strip() for line in file if line.startswith("CASE: ")]
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    for case in cases:
        with open("a.json", "w", encoding="utf-8") as file:
            json.dump(build(case), file)
        subprocess.run(["flatc", "--binary", schema, "a.json"], check=True)
        done = subprocess.run(["tfc-import", "a.tfg"], capture_output=True, text=True, errors="replace")
        print(f"case\n{done.stderr}", end="")
        if done.returncode != 1:
            print(f"ended with {done.returncode}")


if __name__ == "__main__":
    main()
