"""Prints a graph with functions f1 to fN, each of which calls the one before it K times.

    chain.py N K
"""

import sys

functions, calls = map(int, sys.argv[1:])
print("x Placeholder | dtype=f32 shape=[4]")
print(f"a f{functions} x")
print("function f0 p -> y=n:y:0\nn Neg p | T=f32\nend")
for i in range(1, functions + 1):
    print(f"function f{i} p -> y=n0:y:0")
    for k in range(calls):
        print(f"n{k} f{i - 1} {f'n{k - 1}:y:0' if k else 'p'}")
    print("end")
