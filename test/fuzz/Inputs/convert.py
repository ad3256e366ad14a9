"""convert.py OUT FOLDERS...: writes the graphs below the folders in binary form, if they have a text of their own."""

import pathlib
import subprocess
import sys

out, *folders = sys.argv[1:]
graphs = sorted(path for folder in folders for path in pathlib.Path(folder).rglob("*.graph"))
for number, path in enumerate(graphs):
    subprocess.run(["tfc", "convert", path, f"{out}/{number}.tfg"], stderr=subprocess.DEVNULL)
