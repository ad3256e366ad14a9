"""check_targets.py PROGRAMS FOLDER: compares the targets that tfc-random printed with those that scripts draw, and loads
a model for a processor that lacks what others have."""

import os
import re
import sys

import numpy as np

from targets import draw, load

programs, folder = sys.argv[1:]
with open(programs, encoding="utf-8") as file:
    found = re.findall(r"^# (program \d+): tfc -O\d(?: --mcpu=(\S+))?", file.read(), re.MULTILINE)
wrong = [name for name, target in found if draw(name)[0] != (target or "native")]
print(f"{len(found)} programs, {len(wrong)} drawn otherwise, {len({target for _, target in found})} targets")

graph = os.path.join(folder, "other.graph")
with open(graph, "w", encoding="utf-8") as file:
    file.write("graph other\nentry scaled(x: f32[n]) -> (y: f32[n]) { return x * 2.0 + 1.0 }\n")
print(load("bdver4", graph, os.path.join(folder, "other.so")).call("scaled", x=np.array([1, 2]))[0])
