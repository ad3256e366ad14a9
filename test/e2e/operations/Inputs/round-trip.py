"""round-trip.py FOLDER: every call of the tables becomes text, operations, text and operations again,
and so do those of MORE, which the tables lack. All operations with text must occur."""

import os
import re
import runpy
import subprocess
import sys

import harness
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "..", "..", "..", "dialects", "dfg")
TABLES = ("contraction", "convolution", "elementwise", "functions", "gather", "pairs", "pooling", "reduction", "shape", "softmax", "sort")
# Families whose operations only stages create, or whose text has special forms.
OTHERS = {"ControlOps", "DataflowOps", "DatasetOps", "ListOps", "MessageOps", "QueueOps", "StructureOps", "TapeOps"}
MORE = """graph more

var `a weight`: f32[3, 2] = random_truncated_normal(seed: 3)
@frozen var steps: i64 = 4

entry more(x: f32[`for` <= 8, 2], `y z`: f32[`n/1`]) -> (a: f32[`for`, 2], `b c`: f32[3 * `n/1` + 1])
    where `for` >= 1, `n/1` % 2 == 0 {
  c = random_uniform([`for`, 2], f32, seed: 1, low: -1.0, high: 2.0)
  d = random_normal([`for`, 2], f32, seed: 1)
  e = random_integer([`for`, 2], i32, seed: 1, low: 0, high: 9)
  f = random_bernoulli([`for`, 2], bool, seed: 1, probability: 0.5)
  g = place(matmul(x, eye(2)), starts: [0, 0], shape: [`for` + 1, 2])[1:]
  assign(steps, steps + i64(`for`))
  assign(`a weight`, `a weight` * f32(iota(2)))
  h = place(`y z`, starts: [1], shape: [3 * `n/1` + 1], steps: [3])
  return select(f, c + d, g + cast(e, f32)), h
}
entry selected(x: f32[n], `a b`: bool[n]) -> (y: f32[k], rest: f32[`a size`]) {
  rest: f32[`a size` <= n] = boolean_mask(x, not `a b`)
  return boolean_mask(x, `a b`), rest
}
"""


def table_text(name):
    sys.modules["harness"] = harness
    entries = harness.Entries()
    cases = runpy.run_path(os.path.join(HERE, f"{name}.py"))["CASES"]
    for index, case in enumerate(cases):
        harness.add_case(entries, index, case, np.random.default_rng(index))
    return entries.text


def compiled(source, target, *options):
    subprocess.run(["tfc", "compile", source, "-o", target, *options], check=True)
    with open(target, encoding="utf-8") as file:
        return file.read()


def operations_with_text():
    for file in os.listdir(SOURCES):
        family, suffix = os.path.splitext(file)
        if suffix == ".td" and family.endswith("Ops") and family not in OTHERS:
            with open(os.path.join(SOURCES, file), encoding="utf-8") as text:
                yield from re.findall(r"^def Dfg_\w+ : ?\s*Dfg_\w+<\"(\w+)\"", text.read(), re.MULTILINE)


def main():
    folder, wrong, seen = sys.argv[1], 0, set()
    os.makedirs(folder, exist_ok=True)
    np.seterr(all="ignore")
    for name, text in [*((name, table_text(name)) for name in TABLES), ("more", MORE)]:
        base = os.path.join(folder, name)
        with open(f"{base}.graph", "w", encoding="utf-8") as file:
            file.write(text)
        first = compiled(f"{base}.graph", f"{base}.1.mlir", "--stop-after=frontend")
        compiled(f"{base}.graph", f"{base}.2.graph")
        again = compiled(f"{base}.2.graph", f"{base}.2.mlir", "--stop-after=frontend")
        if first != again:
            wrong += 1
            subprocess.run(["diff", f"{base}.1.mlir", f"{base}.2.mlir"])
        seen |= set(re.findall(r"dfg\.(\w+)", first))
    missing = sorted(set(operations_with_text()) - seen)
    print(f"{len(seen)} operations, {wrong} files differ; never called: {missing}")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
