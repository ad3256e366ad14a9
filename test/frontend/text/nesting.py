"""nesting.py FOLDER TOOL: checks that 20,000 nested levels are refused, and as many adjacent ones are read."""

import os
import subprocess
import sys

N = 20_000
DEEP = {
    "parentheses": "let x = " + "(" * N + "1" + ")" * N,
    "lists": "let x = " + "[" * N,
    "subscripts": "let x = " + "a[" * N,
    "calls": "let x = " + "f(" * N + ")" * N,
    "operators": "let x = a" + " + a" * N,
    "suffixes": "let x = a" + "(1)" * N,
    "members": "let x = a" + ".b" * N,
    "minus": "let x = " + "-" * N + "a",
    "not": "let x = " + "not " * N + "a",
    "powers": "let x = a" + " ** a" * N,
    "blocks": "fn f() " + "{" * N,
    "else if": "fn f() { if a { }" + " else if a { }" * N + "}",
    "else static if": "fn f() { static if a { }" + " else static if a { }" * N + "}",
    "types": "var x: " + "list[" * N,
    "ifs": "fn f() { " + "x = if a { " * N,
    "mixed": "fn f() { " + "x = (if a { x = [b for c in if d { " * N,
}
WIDE = {
    "list": "let x = [" + "1, " * N + "]",
    "annotations": "@a " * N + "var x: f32 = 1",
    "string": 'let x = "' + "{a}" * N + '"',
    "lines": "let x = 1\n" * N,
    "comments": "# c\n" * N + "let x = f(" + "# d\n" * N + ")",
}
ERRORS = {"errors": "let a = 1 1\n" * N, "errors on a line": "let a = " + "$ " * 5000}


def run(folder, tool, text, mode):
    path = os.path.join(folder, "nesting.graph")
    with open(path, "w") as out:
        out.write("dim n\n" + text + "\n")
    return subprocess.run([tool, mode, path], capture_output=True, text=True, timeout=60)


folder, tool = sys.argv[1], sys.argv[2]
os.makedirs(folder, exist_ok=True)
for mode in ["--print-ast", "--format"]:
    for name, text in DEEP.items():
        done = run(folder, tool, text, mode)
        assert done.returncode == 1, (name, mode, done.returncode)
        assert done.stderr.count("[too-deep]") >= 1, (name, mode, done.stderr[:500])
        assert done.stderr.count("error:") <= 4, (name, mode, done.stderr[-2000:])
    for name, text in WIDE.items():
        done = run(folder, tool, text, mode)
        assert done.returncode == 0, (name, mode, done.stderr[:500])
    for name, text in ERRORS.items():
        done = run(folder, tool, text, mode)
        assert done.returncode == 1 and "more diagnostics are not shown" in done.stderr, (name, mode)
