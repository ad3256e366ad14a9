"""Checks that clang-format would change no file: formatted.py CLANG_FORMAT ROOT."""

import os
import subprocess
import sys

import sources

BATCH = 64


def main():
    program, root = sys.argv[1:]
    paths = [path for path, _ in sources.files(root, (".h", ".cpp", ".c"))]
    status = 0
    for first in range(0, len(paths), BATCH):
        batch = [os.path.join(root, path) for path in paths[first : first + BATCH]]
        command = [program, "--dry-run", "--Werror", "--ferror-limit=1", *batch]
        checked = subprocess.run(command, capture_output=True, text=True)
        sys.stdout.write(checked.stderr)
        status = status or checked.returncode
    return status


sys.exit(main())
