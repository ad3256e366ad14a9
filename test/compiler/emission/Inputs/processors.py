"""processors.py GRAPH FOLDER: compiles an object for each processor that LLVM knows, and checks that it needs only
functions of the C library."""

import os
import re
import subprocess
import sys

graph, folder = sys.argv[1:]
listed = subprocess.run(["llc", "-mtriple=x86_64", "-mcpu=help"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
names = re.findall(r"^  (\S+) +- Select the", listed.stdout + listed.stderr, re.MULTILINE)
count, wrong = 0, 0
for name in names:
    for level in "-O3", "-O0":
        ran = subprocess.run(["tfc", "compile", graph, "-o", os.path.join(folder, "shorts.o"), level, "--mcpu", name],
                             capture_output=True, text=True)
        if ran.returncode == 2 and "is not a 64-bit processor" in ran.stderr:
            continue
        count += 1
        if ran.returncode:
            wrong += 1
            print(name, level, ran.stderr)
print(f"{count // 2} processors, {wrong} wrong")
