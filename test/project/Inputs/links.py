"""Checks that relative links of Markdown pages lead to files of the project: links.py ROOT."""

import os
import re
import sys

import sources

FENCE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)  # code
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def main():
    root, wrong = sys.argv[1], 0
    for path, text in sources.files(root, [".md"]):
        text = FENCE.sub(lambda code: "\n" * code.group().count("\n"), text)
        for match in LINK.finditer(text):
            if not os.path.exists(os.path.join(root, os.path.dirname(path), match.group(1))):
                wrong += 1
                line = text.count("\n", 0, match.start()) + 1
                print(f"{path}:{line}: error: no '{match.group(1)}'")
    return 1 if wrong else 0


sys.exit(main())
