"""inner_loops.py < ASSEMBLY: prints the innermost loops of functions of AArch64 with multiply-adds of vectors: how many there
are, the registers that they add to, and the accesses to the stack."""

import re
import sys

LABEL = re.compile(r"^([\w.$]+):")
BRANCH = re.compile(r"^\s+(?:b\.\w+|cbn?z\s+\w+,|tbn?z\s+\w+, #\d+,)\s+([\w.$]+)")
SUM = re.compile(r"^\s+(?:fmla|[us]*dot|mla)\s+v(\d+)\.(?:2d|4s|8h)")


def loops(lines):
    """The bodies of loops without labels in them, with the function of each."""
    function, label, begin = "", "", 0
    for number, line in enumerate(lines):
        if match := LABEL.match(line):
            label, begin = match.group(1), number + 1
            if not label.startswith(".L"):
                function = label
        elif (match := BRANCH.match(line)) and match.group(1) == label:
            yield function, lines[begin:number]


for function, body in loops(sys.stdin.read().splitlines()):
    sums = [match.group(1) for match in map(SUM.match, body) if match]
    if sums:
        spills = sum("[sp" in line for line in body)
        print(f"{function}: {len(sums)} multiply-adds to {len(set(sums))} registers, {spills} accesses to the stack")
