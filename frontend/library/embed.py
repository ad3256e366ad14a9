#!/usr/bin/env python3
"""Writes graph files as string constants: embed.py OUTPUT.inc FILE.graph... --importers FILE.graph..."""

import argparse
import json
import pathlib

parser = argparse.ArgumentParser()
parser.add_argument("output", type=pathlib.Path)
parser.add_argument("files", type=pathlib.Path, nargs="+", help="files that graphs may use")
parser.add_argument("--importers", type=pathlib.Path, nargs="*", default=[], help="files of importers")
args = parser.parse_args()

lines = []
for path in sorted(args.files + args.importers):
    lines.append('{"%s", %s,' % (path.stem, "true" if path in args.importers else "false"))
    text = path.read_text(encoding="ascii")
    lines += ["  " + json.dumps(line) for line in text.splitlines(keepends=True)] or ['  ""']
    lines.append("},")
args.output.write_text("\n".join(lines) + "\n")
