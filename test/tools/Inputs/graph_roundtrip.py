"""graph_roundtrip.py FOLDER PART PARTS SOURCES...: emits graphs as text, reads the text, and compares the modules.

Of the graphs below SOURCES takes every PARTS-th, from PART on. What a dead result is called in messages may differ,
and operations without results that are used; the second text must be the first one's.
"""

import concurrent.futures
import glob
import os
import re
import subprocess
import sys


def tfc(*arguments):
    return subprocess.run(["tfc", "compile", *arguments], capture_output=True, text=True, errors="replace")


def normalize(module):
    return re.sub(r" attributes \{names = \[[^\]]*\]\}", "", module)


def check(path, base):
    """What is wrong, or "" for a graph that comes back as it was, or None for one that has errors."""
    module = tfc(path, "--stop-after=frontend")
    if module.returncode:
        return None
    text = tfc(path, "--emit=graph", "-o", base + ".1.graph")
    if text.returncode:
        # What has no text is an error with a place.
        return "" if re.search(r":\d+:\d+: error: .*\[no-text\]", text.stderr) else text.stderr
    again = tfc(base + ".1.graph", "--stop-after=frontend")
    if again.returncode:
        return again.stderr
    if normalize(again.stdout) == normalize(module.stdout):
        return ""
    text = tfc(base + ".1.graph", "--emit=graph", "-o", base + ".2.graph")
    if text.returncode:
        return text.stderr
    last = tfc(base + ".2.graph", "--stop-after=frontend")
    return "" if normalize(last.stdout) == normalize(again.stdout) else "the module changes when it is read again"


def main():
    folder, part, parts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    graphs = sorted(path for source in sys.argv[4:] for path in glob.glob(f"{source}/**/*.graph", recursive=True))
    graphs = graphs[part::parts]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        bases = [f"{folder}/{i}" for i in range(len(graphs))]
        results = list(pool.map(check, graphs, bases))
    for path, result in zip(graphs, results):
        if result:
            print(f"{path}: {result[:2000]}")
    print(sum(result is not None for result in results), "graphs")
    sys.exit(any(results))


if __name__ == "__main__":
    main()
