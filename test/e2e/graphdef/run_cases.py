"""run_cases.py FOLDER [OPTION ...]: runs each recorded case of TensorFlow in the folder with these options of
`tfc run` and prints what differs."""

import pathlib
import subprocess
import sys

failed = 0
for case in sorted(pathlib.Path(sys.argv[1]).glob("*/case.json")):
    command = ["tfc", "run", str(case.parent / "graph.pb"), "--case", str(case), *sys.argv[2:]]
    done = subprocess.run(command, capture_output=True, text=True)
    print(f"{case.parent.name}: {done.stdout.splitlines()[-1] if done.stdout else 'no result'}")
    if done.returncode != 0:
        failed += 1
        print(done.stdout + done.stderr)
sys.exit(failed != 0)
