"""examples.py SOURCE_ROOT: the examples of all operations without effects, as a module.

Each becomes the body of a function whose arguments are the values that the example uses.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys


def split_types(text):
    """Types between top-level commas; the brackets of types and sizes nest."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "<([") - (c in ">)]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def function(record):
    found = re.search(r"```mlir\n(.*?)```", record["description"], re.S)
    if not found:
        sys.exit(record["opName"] + " has no example")
    text = " ".join(found.group(1).split())
    uses = re.findall(r"%\w+", text.split("= ", 1)[1])
    types = split_types(text.rpartition(" : ")[2]) if uses else []
    arguments = ", ".join(f"{use}: {type}" for use, type in dict(zip(uses, types)).items())
    return f"func.func @{record['opName']}({arguments}) {{\n  {text}\n  return\n}}"


def main():
    root = sys.argv[1]
    tblgen = shutil.which("llvm-tblgen")
    include = pathlib.Path(tblgen).resolve().parents[1] / "include"
    command = [tblgen, "--dump-json", f"{root}/dialects/dfg/DfgOps.td", f"-I{root}", f"-I{include}"]
    records = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    for name in sorted(records["!instanceof"]["Dfg_PureOp"]):
        if not name.startswith("anonymous"):
            print(function(records[name]))


main()
