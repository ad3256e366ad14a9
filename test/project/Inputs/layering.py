"""Checks which folder includes which: layering.py ROOT.

Stages of the compiler meet in compiler/pipeline and in the IR, never through each other's headers. Within a folder that
docs/architecture.md draws, a file includes only what stands before it in the drawing.
"""

import re
import sys

import sources

FOLDERS = ("runtime", "dialects", "frontend", "compiler", "tools")
# The interface between the runtime and generated code, plain C.
ABI = ("runtime/tfc.h", "runtime/Model.h", "runtime/Dtypes.inc")
# The checksum of checkpoints, which TensorFlow's have too.
CHECKSUM = "runtime/Crc32c.h"
# The fences of the drawings, each with the folder that it draws.
DRAWN = {
    "elaborate": "frontend/text/elaborate",
    "flatbuffer": "frontend/flatbuffer",
    "host": "compiler/host",
    "importer": "frontend/importer",
    "onnx": "frontend/onnx",
    "tensorflow": "frontend/tensorflow",
}
INCLUDE = re.compile(r'^[ \t]*#?[ \t]*include[ \t]+["<]([^">]+)[">]', re.MULTILINE)


def allowed(path):
    """The prefixes of this project's headers that the file may include."""
    parts = path.split("/")
    if parts[0] == "runtime":
        return ["runtime/"]
    if parts[0] == "dialects":
        return ["dialects/", *ABI]
    if parts[:2] == ["frontend", "importer"]:  # knows no format of graphs
        return ["frontend/importer/", "frontend/text/", "frontend/Fmt.h", "frontend/GraphBuilder.h",
                "dialects/"]
    if parts[0] == "frontend":
        return ["frontend/", "dialects/", CHECKSUM, *ABI]
    if parts[:2] == ["compiler", "reference"]:  # what the stages are compared with knows none of them
        return ["compiler/reference/", "dialects/"]
    if parts[0] == "compiler" and parts[1] == "pipeline":
        return ["compiler/", "dialects/", *ABI]
    if parts[:2] == ["compiler", "kernels"]:  # what the targets share
        return ["compiler/kernels/", "dialects/"]
    if parts[0] == "compiler" and parts[1] in ("cpu", "gpu"):
        return [f"compiler/{parts[1]}/", "compiler/kernels/", "dialects/", *ABI]
    if parts[0] == "compiler":
        return [f"compiler/{parts[1]}/", "compiler/pipeline/", "dialects/", *ABI]
    return [f"{folder}/" for folder in FOLDERS]


def drawings(root):
    """The position of each drawn name, by folder: names that are joined by a slash share one."""
    places = {}
    for path, text in sources.files(root, ["docs/architecture.md"]):
        for fence, drawing in re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            if fence in DRAWN:
                groups = [group for line in drawing.splitlines() for group in line.split("|")[0].split()]
                places[DRAWN[fence]] = {name: i for i, group in enumerate(groups) for name in group.split("/")}
    return places


def misplaced(path, header, places):
    """The reason why a file of a drawn folder may not include another one of it; empty if it may."""
    folder, _, name = path.rpartition("/")
    if folder not in places:
        return ""
    order, name = places[folder], name.split(".")[0]
    if name not in order:
        return f"'{name}' is not in the drawing of docs/architecture.md"
    used = header.rpartition("/")[2].split(".")[0]
    if not header.startswith(f"{folder}/") or order.get(used, len(order)) <= order[name]:
        return ""
    return f"may not include '{header}', which does not stand before it in docs/architecture.md"


def main():
    wrong = 0
    places = drawings(sys.argv[1])
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
            elif why := misplaced(path, header, places):
                wrong += 1
                line = text.count("\n", 0, match.start(1)) + 1
                print(f"{path}:{line}: error: {why}")
    return 1 if wrong else 0


sys.exit(main())
