"""library_functions.py SYMBOLS.cpp: a C program that needs all functions that the lists in there name."""

import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()


def names(table):
    return re.findall(r'"(\w+)"', re.search(table + r"\[\] = \{(.*?)\};", text, re.S).group(1))


functions = [name for base in names("kMath") for name in (base, base + "f")]
functions += [name for name in names("kSystem") if not name.startswith("_")]
print("".join(f"void {name}(void);\n" for name in functions))
print("void (*volatile all[])(void) = {" + ", ".join(functions) + "};")
print("int main(void) { return all[0] == 0; }")
