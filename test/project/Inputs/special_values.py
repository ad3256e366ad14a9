"""special_values.py REFERENCE.md: checks that every operation on numbers documents its special values.

The description must mention what applies to the operation: NaN, infinities, integers that wrap, rounding, or elements
that are returned unchanged. Only operations with an operand that may be f32 are checked; bool tensors and the bits of
integers have no special values.
"""

import re
import sys

WORDS = r"NaN|[Ii]nfinit|IEEE|wraps?\b|as\s+(it\s+is|they\s+are)|round|\bbool tensors?|[Ii]nteger tensors?|bits|Special values:"


def main(page):
    silent = []
    text = open(page, encoding="utf-8").read()
    for section in re.split(r"^### ", text, flags=re.M)[1:]:
        name = re.match(r"`([\w.]+)`", section)
        operands = section.partition("#### Operands:")[2].partition("#### Results:")[0]
        description = section.partition("#### ")[0]
        if name and re.search(r"\bf32\b", operands) and not re.search(WORDS, description):
            silent.append(name.group(1))
    for name in silent:
        print(f"{page}: '{name}' does not document its results for NaN, infinities or the limits of integers")
    return len(silent) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
