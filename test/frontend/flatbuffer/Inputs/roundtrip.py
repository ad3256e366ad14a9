"""roundtrip.py FOLDER SOURCES...: writes all graphs of the tests in binary form, and compares what is read with them.

The graphs are those of test/tools/Inputs/graph_roundtrip.py. Modules must be equal as text with the ranges of all
operations in the source, and with the bytes of their constants. The short form of the tests takes one in three.
"""

import concurrent.futures
import functools
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tools", "Inputs"))
from graph_roundtrip import collect, run, try_check


def check(graph, base):
    """Returns whether the graph is valid; raises ValueError if its binary form is another graph."""
    expected = run("tfc-import", "--ranges", graph.path, *graph.options)
    if expected.returncode:
        return False
    converted = run("tfc", "convert", graph.path, *graph.options, base + ".tfg")
    found = run("tfc-import", "--ranges", base + ".tfg")
    if converted.returncode or found.returncode:
        raise ValueError(converted.stderr + found.stderr)
    if expected.stdout != found.stdout:
        lines = zip(expected.stdout.splitlines(), found.stdout.splitlines())
        different = [f"- {a}\n+ {b}" for a, b in lines if a != b] or ["one is longer"]
        raise ValueError("another graph is read:\n" + "\n".join(different[:3]))
    return True


def main():
    folder = sys.argv[1]
    graphs = collect(folder, sys.argv[2:])[:: 1 if os.environ.get("TFC_LONG", "0") != "0" else 3]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(functools.partial(try_check, check), graphs, [os.path.join(folder, str(i)) for i in range(len(graphs))]))
    for kind, counted in ("graphs", False), ("GraphDefs", True):
        valid = [result for graph, result in zip(graphs, results) if graph.is_graphdef == counted and result]
        print(f"{len(valid)} {kind}")
    wrong = [result for result in results if isinstance(result, str)]
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
