"""schemes.py OUTPUT: prints the accuracies of the schemes in a table, and compares them with that of one process."""

import re
import sys

with open(sys.argv[1]) as file:
    output = file.read()
(late,) = re.findall(r"(\d+) gradients came too late", output)
accuracies = {scheme: 100 * int(right) / int(count) for scheme, right, count in re.findall(r"(\w+): (\d+) of (\d+)", output)}
assert len(accuracies) == 6, output
for scheme, accuracy in accuracies.items():
    print(f"{scheme:>12} {accuracy:.1f} %" + (f", {late} gradients came too late" if scheme == "backup" else ""))
    assert accuracy >= accuracies["one"] - 2, scheme
