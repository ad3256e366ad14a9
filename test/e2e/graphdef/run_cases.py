"""run_cases.py FOLDER [OPTION ...]: runs each recorded case of TensorFlow in the folder with these options of
`tfc run` and prints what differs."""

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


failed = 0
for case in sorted(pathlib.Path(sys.argv[1]).glob("*/case.json")):
    done = run(case, sys.argv[2:])
    print(f"{case.parent.name}: {done.stdout.splitlines()[-1] if done.stdout else 'no result'}")
    if done.returncode != 0:
        failed += 1
        print(done.stdout + done.stderr)
sys.exit(failed != 0)
