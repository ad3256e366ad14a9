"""inline_constants.py ENTRY: an entry of the module on standard input, with constants where they are used.

Modules that differ in the order of their constants alone are the same then.
"""

import re
import sys

lines, constants, inside = [], {}, False
for line in sys.stdin:
    inside |= f"dfg.entry @{sys.argv[1]}(" in line
    if not inside:
        continue
    found = re.match(r"\s*(%\d+) = dfg\.constant (dense<.*?>) : (\S+)$", line)
    if found:
        constants[found[1]] = f"{found[2]}:{found[3]}"
    else:
        lines.append(re.sub(r"%\d+\b", lambda name: constants.get(name[0], name[0]), line))
    if line.startswith("  }"):
        break
print("".join(lines), end="")
