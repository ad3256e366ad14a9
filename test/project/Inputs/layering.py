"""Checks which folder includes which: layering.py ROOT.

Stages of the compiler meet in compiler/pipeline and in the IR, never through each other's headers.
"""

import re
import sys

import sources

FOLDERS = ("runtime", "dialects", "frontend", "compiler", "tools")
# What the runtime and generated code say to each other, plain C.
ABI = ("runtime/tfc.h", "runtime/Model.h")
INCLUDE = re.compile(r'^[ \t]*#?[ \t]*include[ \t]+["<]([^">]+)[">]', re.MULTILINE)


def allowed(path):
    """The prefixes of what the file may include of this project."""
    parts = path.split("/")
    if parts[0] == "runtime":
        return ["runtime/"]
    if parts[0] == "dialects":
        return ["dialects/", *ABI]
    if parts[0] == "frontend":
        return ["frontend/", "dialects/"]
    if parts[:2] == ["compiler", "reference"]:  # what the stages are compared with knows none of them
        return ["compiler/reference/", "dialects/"]
    if parts[0] == "compiler" and parts[1] == "pipeline":
        return ["compiler/", "dialects/", *ABI]
    if parts[0] == "compiler":
        return [f"compiler/{parts[1]}/", "compiler/pipeline/", "dialects/", *ABI]
    return [f"{folder}/" for folder in FOLDERS]


def main():
    wrong = 0
    for path, text in sources.files(sys.argv[1], [".h", ".cpp", ".c", ".td", ".inc"]):
        if not path.startswith(tuple(f"{folder}/" for folder in FOLDERS)):
            continue
        for match in INCLUDE.finditer(text):
            header = match.group(1)
            ours = header.split("/")[0] in FOLDERS and "/" in header
            foreign = path.startswith("runtime/") and header.split("/")[0] in (
                "llvm",
                "mlir",
                "lld",
                "clang",
            )
            if foreign or ours and not header.startswith(tuple(allowed(path))):
                wrong += 1
                line = text.count("\n", 0, match.start(1)) + 1
                here = ", ".join(allowed(path))
                print(f"{path}:{line}: error: may not include '{header}'; allowed here: {here}")
    return 1 if wrong else 0


sys.exit(main())
