#!/usr/bin/env python3
"""Writes graph files as string constants: embed.py OUTPUT.inc FILE.graph..."""

import json
import pathlib
import sys

output, *files = map(pathlib.Path, sys.argv[1:])
lines = []
for path in sorted(files):
    lines.append('{"%s",' % path.stem)
    text = path.read_text(encoding="ascii")
    lines += ["  " + json.dumps(line) for line in text.splitlines(keepends=True)] or ['  ""']
    lines.append("},")
output.write_text("\n".join(lines) + "\n")
