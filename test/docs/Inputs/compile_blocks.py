"""Compiles the graphs that a page shows: compile_blocks.py PAGE FOLDER.

Says which are refused and why; those with features that are not supported yet must be refused as such.
"""

import os
import re
import subprocess
import sys

BLOCK = re.compile(r"```graph\n(.*?)```", re.DOTALL)


def main():
    page, folder = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    compiled = later = wrong = 0
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        path = os.path.join(folder, f"line{line}.graph")
        with open(path, "w", encoding="utf-8") as file:
            file.write(match.group(1))
        library = path.replace(".graph", ".so")
        done = subprocess.run(
            ["tfc", "compile", path, "-o", library], capture_output=True, text=True
        )
        if done.returncode == 0:
            compiled += 1
        elif done.returncode == 1 and "[not-yet]" in done.stderr:
            later += 1
        else:
            wrong += 1
            print(done.stderr)
    print(f"{compiled} compiled, {later} for later, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
