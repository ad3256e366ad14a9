"""emitted.py FOLDER SOURCES...: compiles graphs and what is emitted of them, and compares what the two libraries compute.

Every entry of both is called with the same feeds, in one instance each; results, variables and messages of calls that fail
must be equal to the bit, but for the lines that messages name. The graphs are those of graph_roundtrip.py. Of them a sample is taken by name; in the long form of
the tests all are.

    emitted.py --call ONE.so OTHER.so      compares two libraries
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import zlib

import numpy as np

from model import Failed, Model

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "Inputs"))
from graph_roundtrip import collect, emit, run

SAMPLE = 16  # one graph of so many
SECONDS = 60  # that calls of one graph may take: a loop need not end for random feeds


# ---------------------------------------------------------------------------------------------------------------------
# Calls
# ---------------------------------------------------------------------------------------------------------------------


def sizes_of(text, known):
    """The shape of a type such as f32[n, 2 * m], with `known` as the named sizes."""
    sizes = re.search(r"\[(.*)\]", text)
    if not sizes:
        return ()
    shape = eval(f"[{sizes[1].replace('`', '')}]", {"max": max, "min": min, "__builtins__": {}}, known)
    return tuple(max(size, 0) for size in shape)


def random_feed(random, dtype, shape):
    if dtype == np.uint16:  # the bits of bf16
        return (random.standard_normal(shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if np.dtype(dtype).kind == "f":
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 2 if dtype == np.bool_ else 4, shape).astype(dtype)


def call(model, entry, feeds):
    """The bytes of what a call returns, or its message without the place in the source, which differs."""
    try:
        results = model.call_raw(entry, feeds, len(model.entries[entry][1]))
        return [(result.shape, result.tobytes()) for result in results]
    except Failed as failure:
        return re.sub(r" at \S+:\d+", "", str(failure))


def compare_calls(one, other):
    """Compares instances of two libraries; returns how many calls succeeded."""
    if one.entries != other.entries or one.variables != other.variables:
        raise ValueError("the libraries have other entries or variables")
    random, succeeded = np.random.default_rng(0), 0
    for round, entry in enumerate([entry for _ in range(3) for entry in one.entries]):
        types = one.feed_types(entry)
        if any("overflow" in text for _, text in types):
            continue  # no sizes are small enough
        names = sorted({name for _, text in types for name in re.findall(r"\b[A-Za-z_]\w*", text.partition("[")[2])})
        known = {name: int(random.integers(2, 6)) for name in names}
        feeds = [np.asarray(random_feed(random, dtype, sizes_of(text, known))) for dtype, text in types]
        results = call(one, entry, feeds)
        if results != call(other, entry, feeds):
            raise ValueError(f"call {round}, of {entry} with {known}, has other results")
        succeeded += not isinstance(results, str)
        for variable in one.variables:
            if one[variable].tobytes() != other[variable].tobytes():
                raise ValueError(f"call {round}, of {entry} with {known}, leaves other values in '{variable}'")
    return succeeded


# ---------------------------------------------------------------------------------------------------------------------
# Graphs
# ---------------------------------------------------------------------------------------------------------------------


def is_chosen(graph, sources):
    name = re.sub("^(" + "|".join(map(re.escape, sources)) + ")", "", graph.name)
    return os.environ.get("TFC_LONG", "0") != "0" or zlib.crc32(name.encode()) % SAMPLE == 0


def compare(graph, base):
    """Returns how many calls were compared, or None for a graph with errors or without a text."""
    # The text of a block in the graph form has another order, by which optimisations may round in other ways.
    level = ["-O0"] if graph.is_graphdef else []
    if run("tfc", "compile", graph.path, *graph.options, *level, "-o", base + ".one.so").returncode:
        return None
    if not emit(graph, base) and not (graph.is_graphdef and emit(graph, base, "--stop-after=controlflow")):
        return None
    with open(base + ".graph", encoding="utf-8") as file:
        if "dequeue" in file.read():
            return None  # waits for others to fill the queue
    compiled = run("tfc", "compile", base + ".graph", *level, "-o", base + ".other.so")
    if compiled.returncode:
        raise ValueError(compiled.stderr)
    command = [sys.executable, __file__, "--call", base + ".one.so", base + ".other.so"]
    try:
        called = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    if called.returncode:
        raise ValueError(called.stdout + called.stderr)
    return int(called.stdout)


def try_compare(graph, base):
    try:
        return compare(graph, base)
    except ValueError as error:
        return f"{graph.name}: {str(error)[:2000]}"


def main():
    folder, sources = sys.argv[1], sys.argv[2:]
    graphs = [graph for graph in collect(folder, sources) if is_chosen(graph, sources)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(try_compare, graphs, [os.path.join(folder, str(i)) for i in range(len(graphs))]))
    compared = [result for result in results if isinstance(result, int)]
    wrong = [result for result in results if isinstance(result, str)]
    print(f"{len(compared)} graphs compared, {sum(compared)} calls, {len(wrong)} differ", *wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    if sys.argv[1] == "--call":
        try:
            print(compare_calls(Model(sys.argv[2], threads=1), Model(sys.argv[3], threads=1)))
        except ValueError as error:
            sys.exit(str(error))
    else:
        sys.exit(main())
