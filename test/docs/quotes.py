"""Checks that what a page quotes is in the file that it names: quotes.py DOCS.

A block of code after the line `<!-- PATH -->` has to be in DOCS/PATH, line by line.
"""

import os
import re
import sys

QUOTE = re.compile(r"<!-- (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)


def main():
    docs, wrong = sys.argv[1], 0
    for page in sorted(name for name in os.listdir(docs) if name.endswith(".md")):
        with open(os.path.join(docs, page), encoding="utf-8") as file:
            text = file.read()
        for match in QUOTE.finditer(text):
            try:
                with open(os.path.join(docs, match.group(1)), encoding="utf-8") as file:
                    source = file.read()
            except FileNotFoundError:
                source = ""
            if match.group(2) not in source:
                wrong += 1
                line = text.count("\n", 0, match.start()) + 1
                print(f"{page}:{line}: error: not a part of {match.group(1)}")
    return 1 if wrong else 0


sys.exit(main())
