"""graph_roundtrip.py FOLDER PART PARTS SOURCES...: emits graphs as text, reads the text, and compares the graphs.

Graphs are the .graph files below SOURCES and those in tests that split, the graphs that pages show, and GraphDefs:
recorded cases, and descriptions for Inputs/graphdef.py. Each must come back as the same graph, or have no text, which is
an error with a place. Every PARTS-th is taken, from PART on. A GraphDef is also emitted when its control flow is
structured, which has a text whenever it has no stacks.
"""

import concurrent.futures
import functools
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "frontend", "tensorflow", "Inputs"))
import graphdef

MARK = re.compile(r"^(?://|#|)-{3} (\S+)\n", re.MULTILINE)
SHOWN = re.compile(r"```graph\n(.*?)```", re.DOTALL)
NO_TEXT = re.compile(r"^[^\n]+?: error: .*\[no-text\]$", re.MULTILINE)


class Graph:
    """A graph file, and the options that it is compiled with."""

    def __init__(self, name, path, options=()):
        self.name, self.path, self.options = name, path, list(options)

    @property
    def is_graphdef(self):
        return self.path.endswith(".pb")


def entry_of(lines):
    """Feeds all placeholders and fetches all values without uses."""
    words = [line.partition("|")[0].split() for line in lines]
    feeds = [w[0] + ":0" for w in words if w[1] == "Placeholder"]
    read = {name.lstrip("^").split(":")[0] for w in words for name in w[2:]}
    last = [w[0] for w in words if w[0] not in read]
    return f"e: {', '.join(feeds)} -> {', '.join(n + ':0' for n in last)} ; {', '.join(last)}"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


class Collector:
    """Finds graphs; those inside other files are written to files of their own."""

    def __init__(self, folder):
        self.folder, self.graphs = folder, []

    def write(self, name, content):
        folder = os.path.join(self.folder, f"graph{len(self.graphs)}")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def add_described(self, name, text):
        """A GraphDef, with all nodes without uses as results."""
        entry = entry_of(graphdef.parts(text)[0])
        self.graphs.append(Graph(name, self.write("graph.pb", graphdef.graph(text)), ["--entry", entry]))

    def add_recorded(self, path):
        """A GraphDef, each step of the case as an entry."""
        with open(path, encoding="utf-8") as file:
            case = json.load(file)
        calls = [f"{', '.join(s['feeds'])} -> {', '.join(s['fetches'])} ; {', '.join(s['targets'])}" for s in case["steps"]]
        entries = [f"step{i}: {call}" for i, call in enumerate(dict.fromkeys(calls))]
        if case["init"]:
            entries.append("init: ; " + ", ".join(case["init"]))
        options = [option for entry in entries for option in ("--entry", entry)]
        self.graphs.append(Graph(path, os.path.join(os.path.dirname(path), "graph.pb"), options))

    def add_parts(self, path, text):
        pieces = MARK.split(text)
        for name, content in zip(pieces[1::2], pieces[2::2]):
            if name.endswith(".graph"):
                self.graphs.append(Graph(f"{path}: {name}", self.write(os.path.basename(name), content)))
            elif name.endswith(".txt") and "graphdef.py" in pieces[0]:
                self.add_described(f"{path}: {name}", content)

    def add_file(self, path):
        if path.endswith(".graph"):
            self.graphs.append(Graph(path, path))
        elif path.endswith("case.json") and os.path.exists(os.path.join(os.path.dirname(path), "graph.pb")):
            self.add_recorded(path)
        if not path.endswith((".graph", ".md", ".mlir", ".test", ".txt")):
            return
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if path.endswith(".md"):
            for shown in SHOWN.finditer(text):
                line = text.count("\n", 0, shown.start()) + 2
                self.graphs.append(Graph(f"{path}:{line}", self.write("shown.graph", shown[1])))
        elif path.endswith(os.path.join("frontend", "tensorflow", "Inputs", os.path.basename(path))):
            self.add_described(path, text)
        elif not path.endswith(".txt"):
            self.add_parts(path, text)

    def collect(self, source):
        for folder, folders, names in os.walk(source):
            folders.sort()
            for name in sorted(names):
                self.add_file(os.path.join(folder, name))


def collect(folder, sources):
    os.makedirs(folder, exist_ok=True)
    collector = Collector(folder)
    for source in sources:
        collector.collect(source)
    return collector.graphs


def has_text(emitted):
    """Returns true if there is one, and false if an error with a location says that there is none."""
    if emitted.returncode == 0:
        return True
    if NO_TEXT.search(emitted.stderr):
        return False
    raise ValueError(emitted.stderr)


def emit(graph, base, *options):
    """Writes the graph as text to `base`.graph, and returns whether it has one."""
    return has_text(run("tfc", "compile", graph.path, *graph.options, *options, "-o", base + ".graph"))


def check_form(graph, base, *options):
    """Returns whether the graph after a stage has a text; raises ValueError if that is not the same graph."""
    if not emit(graph, base, *options):
        return False
    stage = options or ["--stop-after=frontend"]
    module = run("tfc", "compile", graph.path, *graph.options, *stage, "-o", base + ".mlir")
    same = run("tfc-random", "--same", base + ".mlir", base + ".graph")
    if module.returncode or same.returncode:
        raise ValueError(module.stderr + same.stdout + same.stderr)
    return True


def check(graph, base):
    """Returns how many forms of the graph have a text, or None for one that has errors."""
    if run("tfc", "compile", graph.path, *graph.options, "--stop-after=frontend", "-o", base + ".mlir").returncode:
        return None
    written = check_form(graph, base)
    if graph.is_graphdef:
        written += check_form(graph, base + ".structured", "--stop-after=controlflow")
    return written


def try_check(check, graph, base):
    """Returns what `check` does, or the text of its error."""
    try:
        return check(graph, base)
    except ValueError as error:
        return f"{graph.name}: {str(error)[:2000]}"


def main():
    folder, part, parts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    graphs = collect(folder, sys.argv[4:])[part::parts]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(functools.partial(try_check, check), graphs, [os.path.join(folder, str(i)) for i in range(len(graphs))]))
    wrong = [result for result in results if isinstance(result, str)]
    valid = [(graph, result) for graph, result in zip(graphs, results) if isinstance(result, int)]
    for kind, counted in ("graphs", False), ("GraphDefs", True):
        written = [result for graph, result in valid if graph.is_graphdef == counted]
        print(f"{len(written)} {kind}, {sum(map(bool, written))} with a text")
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
