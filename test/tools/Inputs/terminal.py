"""terminal.py COMMAND..: runs the command with standard error on a terminal, and prints what that showed.

Each change of the line is printed on a line of its own; the exit code is the command's.
"""

import os
import pty
import subprocess
import sys


def main():
    ours, theirs = pty.openpty()
    process = subprocess.Popen(sys.argv[1:], stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
        if not data:
            break
        shown += data
    print(shown.decode().replace("\r\n", "\n").replace("\r\x1b[K", "\n<erased>"))
    return process.wait()


sys.exit(main())
