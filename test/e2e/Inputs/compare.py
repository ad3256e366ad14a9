"""compare.py GRAPH.graph ...: compares every entry of the graphs with the oracle, with random feeds."""

import re
import subprocess
import sys

failed = 0
for graph in sys.argv[1:]:
    with open(graph, encoding="utf-8") as file:
        entries = re.findall(r"^entry (\w+)", file.read(), re.MULTILINE)
    for entry in entries:
        command = ["tfc", "run", graph, "--entry", entry, "--compare-with=reference"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            failed += 1
            print(f"{graph}: {entry}: {done.stdout}{done.stderr}")
    print(f"{len(entries)} entries compared")
sys.exit(failed != 0)
