"""run_cases.py FOLDER [--without=PREFIX] [OPTION ...]: runs each recorded case of TensorFlow in the folder, but for those whose
names begin with PREFIX, with these options of `tfc run` and prints what differs."""

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

options = sys.argv[2:]
without = options.pop(0).partition("=")[2] if options and options[0].startswith("--without=") else None
failed = 0
for case in sorted(pathlib.Path(sys.argv[1]).glob("*/case.json")):
    if without and case.parent.name.startswith(without):
        continue
    done = run(case, options)
    print(f"{case.parent.name}: {done.stdout.splitlines()[-1] if done.stdout else 'no result'}")
    if done.returncode != 0:
        failed += 1
        print(done.stdout + done.stderr)
sys.exit(failed != 0)
