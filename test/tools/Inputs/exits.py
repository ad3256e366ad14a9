"""exits.py CODE COMMAND...: runs the command and fails unless it exits with CODE."""

import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
sys.stdout.flush()
if code != int(sys.argv[1]):
    sys.exit(f"expected exit code {sys.argv[1]}, but got {code}")
