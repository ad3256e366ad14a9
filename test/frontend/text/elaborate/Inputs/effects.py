"""Assignments of a variable in a dataflow block, in the order FORM.

usage: effects.py COUNT FORM
"""

import sys

count, form = int(sys.argv[1]), sys.argv[2]
LINES = {
    "loose": ["assign(w, x)"] * count,
    "chain": ["t0 = assign(w, x)"]
    + [f"t{i} = assign(w, x, after: [t{i - 1}])" for i in range(1, count)]
    + ["assign(w, x)"],
    "repeated": ["assign(w, x)", f"static for k in 0..{count} {{ assign(w, x) }}"],
}[form]
print("graph effects", "var w: i32 = 0", "entry a(x: i32) -> (y: i32) {", sep="\n")
print("  return dataflow {", *("    " + line for line in LINES), "    yield x", sep="\n")
print("  }", "}", sep="\n")
