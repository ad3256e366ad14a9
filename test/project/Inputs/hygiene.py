"""Checks that no file names a path of the machine on which it was written: hygiene.py ROOT."""

import re
import sys

import sources

PLACES = re.compile(r"(?<![\w./:-])/(?:work|root|home|mnt|Users)(?:/[\w.-]+)*")
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")


def main():
    wrong = 0
    for path, text in sources.files(sys.argv[1]):
        if path.endswith("Inputs/hygiene.py"):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for what, pattern in (
                ("names a place of one machine", PLACES),
                ("is unfinished", UNFINISHED),
            ):
                match = pattern.search(line)
                if match:
                    wrong += 1
                    print(f"{path}:{number}: error: '{match.group()}' {what}")
    return 1 if wrong else 0


sys.exit(main())
