"""run_cases.py FOLDER [--without=PREFIX ...] [--every=N] [OPTION ...]: runs each recorded case of TensorFlow in the folder, but for
those whose names begin with PREFIX, or only every Nth of them, with these options of `tfc run` and prints what differs."""

import argparse
import lzma
import pathlib
import subprocess
import sys
import tempfile


def run(case, options):
    """Runs a case, whose graph may be compressed."""
    graph = case.parent / "graph.pb"
    with tempfile.TemporaryDirectory() as folder:
        if not graph.exists():
            unpacked = pathlib.Path(folder) / "graph.pb"
            unpacked.write_bytes(lzma.decompress((case.parent / "graph.pb.xz").read_bytes()))
            graph = unpacked
        command = ["tfc", "run", str(graph), "--case", str(case), *options]
        return subprocess.run(command, capture_output=True, text=True)


def main():
    options = argparse.ArgumentParser(allow_abbrev=False)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--without", action="append", default=[])
    options.add_argument("--every", type=int, default=1)
    options, others = options.parse_known_args()
    cases = [case for case in sorted(options.folder.glob("*/case.json"))
             if not case.parent.name.startswith(tuple(options.without))]
    failed = 0
    for case in cases[::options.every]:
        done = run(case, others)
        print(f"{case.parent.name}: {done.stdout.splitlines()[-1] if done.stdout else 'no result'}")
        if done.returncode != 0:
            failed += 1
            print(done.stdout + done.stderr)
    sys.exit(failed != 0)


main()
