"""many_predicates.py COUNT SECONDS...: a merge of values that run if predicate i and another one hold.

The other one of i is (i * SECOND + 1) % COUNT, for each of SECONDS; without SECONDS it is one of its
own, and all first switches stand before all second ones.
"""

import sys

count, *seconds = (int(argument) for argument in sys.argv[1:])
pairs = [(f"p{i}", f"p{(i * second + 1) % count}") for second in seconds for i in range(count)]
pairs = pairs or [(f"p{i}", f"q{i}") for i in range(count)]
predicates = sorted({predicate for pair in pairs for predicate in pair})

print("graph many_predicates\n")
print("entry f(x: f32[4], " + ", ".join(f"{p}: bool" for p in predicates) + ") -> (y: f32[4]) {")
print("  return dataflow {")
for i, (first, _) in enumerate(pairs):
    print(f"    a{i}, _ = switch(x, {first})")
for i, (_, second) in enumerate(pairs):
    print(f"    b{i}, _ = switch(a{i}, {second})")
print("    m0 = b0 + 1.0")
for i in range(1, len(pairs)):
    print(f"    m{i}, _ = merge(m{i - 1} * 2.0, b{i} + 1.0)")
print(f"    yield m{len(pairs) - 1}\n  }}\n}}")
