"""The processors that tests compile for: each case draws one of test/targets.txt by its name, so that what is
tested does not depend on the machine; in the long form of the tests it takes all of them.

    targets.py SOURCE LIBRARY COMMAND...   compiles SOURCE for its targets, and runs COMMAND on each LIBRARY
    targets.py                             prints the targets whose code this processor cannot run

A case that draws a processor whose code this one cannot run is run with native code; one in three is compiled and linked for
its processor, too. lit looks for such processors once, and names them in TFC_OTHER_TARGETS.

TFC_TEST_TARGET=TRIPLE or TRIPLE:CPU replaces all targets by one whose code an emulator runs. One in three of the cases that
draw a target is compiled for it, and the others are left out; in the long form none is.
"""

import functools
import os
import subprocess
import sys
import tempfile
import zlib

from model import Failed, Model

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "targets.txt"), encoding="utf-8") as file:
    TARGETS = file.read().split()
EMULATED = os.environ.get("TFC_TEST_TARGET")
if EMULATED:
    TARGETS = [EMULATED]


def draw(name):
    """The processor for the case of that name, as `drawTarget` in test/random draws it, and the rest of the number."""
    rest, index = divmod(zlib.crc32(name.encode()), len(TARGETS))
    return TARGETS[index], rest


def is_long():
    """Whether the tests run in their long form."""
    return os.environ.get("TFC_LONG", "0") != "0"


def targets_of(name):
    """The processors for which the case of that name is compiled."""
    if is_long():
        return TARGETS
    target, rest = draw(name)
    if rest % 3 and EMULATED:
        return []
    return ["native" if rest % 3 and not runs_here(target) else target]


def by_target(cases, name):
    """[(target, [(index, case)...])] for the targets that occur; `name` returns the name of a case."""
    split = [(t, [(i, c) for i, c in enumerate(cases) if t in targets_of(name(c))]) for t in TARGETS]
    return [(target, chosen) for target, chosen in split if chosen]


def options_of(target):
    """The options of `tfc compile` for a target."""
    if target != EMULATED:
        return ["--mcpu", target]
    triple, _, processor = target.partition(":")
    return ["--target", triple, *(["--mcpu", processor] if processor else [])]


def compile_for(target, source, library, *options):
    device = os.environ.get("TFC_TEST_DEVICE")  # of what says nothing about it
    placed = ["--device", device] if device else []
    subprocess.run(["tfc", "compile", source, "-o", library, *options_of(target), *placed, *options], check=True)


def can_run(library):
    try:
        Model(library, threads=1)
    except Failed as failure:
        if failure.status != "unsupported cpu":
            raise
        return False
    return True


def runs_here(target):
    """Returns true if this processor, or an emulator, runs code for the target."""
    if target == EMULATED:
        return True
    others = os.environ.get("TFC_OTHER_TARGETS")
    return target not in (find_others() if others is None else others.split())


LIBRARIES = {}  # a target, a graph, its folder and options -> the library


def compile_once(target, source, library, options):
    """Returns the path of a compiled graph; `library` is that path for the first of several that are the same."""
    with open(source, "rb") as file:
        key = target, file.read(), os.path.dirname(source), options
    if key not in LIBRARIES:
        compile_for(target, source, library, *options)
        LIBRARIES[key] = library
    return LIBRARIES[key]


def load(target, source, library, *options, threads=0):
    """A graph as a model, compiled for a target, once for all numbers of threads."""
    path = compile_once(target, source, library, options)
    if target != "native" and not can_run(path):
        print(f"{library}: this processor cannot run code for {target}; native code runs instead")
        path = compile_once("native", source, library + ".native.so", options)  # a path that is loaded stays what it is
    return Model(path, threads)


def run_command(source, library, command):
    name = os.path.join(*os.path.splitext(os.path.abspath(source))[0].split(os.sep)[-2:])
    for target in targets_of(name):
        compile_for(target, source, library)
        if subprocess.run([sys.executable, __file__, library]).returncode:
            print(f"{library}: this processor cannot run code for {target}; native code runs instead")
            compile_for("native", source, library)
        if subprocess.run(command).returncode:
            return f"failed with code for {target}"
    return 0


@functools.cache
def find_others():
    """The targets whose code this processor cannot run."""
    others = []
    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(folder, "probe.graph")
        with open(graph, "w", encoding="utf-8") as text:
            text.write("graph probe\nentry same(x: f32) -> (y: f32) { return x }\n")
        for target in TARGETS:
            library = os.path.join(folder, target + ".so")
            compile_for(target, graph, library)
            if not can_run(library):
                others.append(target)
    return others


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(*find_others(), sep="\n")
        sys.exit()
    if len(sys.argv) == 2:
        sys.exit(not can_run(sys.argv[1]))
    sys.exit(run_command(sys.argv[1], sys.argv[2], sys.argv[3:]))
