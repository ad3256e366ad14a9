"""The calls of failing.graph that fail, by status and message, and those that do not."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))
from model import Failed, Model

model = Model(sys.argv[1])
wrong = 0


def check(entry, expected, **feeds):
    """`expected` is a result's shape, or the status and message."""
    global wrong
    calls = model["calls"]
    try:
        got = model.call(entry, **feeds)[0].shape
    except Failed as error:
        got = f"{error.status}: {error}"
    if got != expected:
        wrong += 1
        print(f"{entry}: expected {expected!r}, got {got!r}")
    if model["calls"] - calls != isinstance(expected, tuple):
        wrong += 1
        print(f"{entry}: a failed call changed a variable, or a good one did not")


x = np.arange(5, dtype=np.float32)
none, one, three = x < 0, x < 1, x < 3
check("counted", (0,), count=0)
check("counted", (10,), count=10)
for count in (-1, 11, 2**31 - 1, -(2**31)):
    check("counted", "out of range: counted: the size 'steps' is not in [0, 10]", count=count)
check("tight", (3,), x=x, keep=three)
check("tight", "out of range: tight: the size 'k' is not in [0, 3]", x=x, keep=x < 4)
check("promised", (5,), x=x, keep=x < 5)
check("promised", "invalid argument: promised: k >= 1 does not hold", x=x, keep=none)
check("promised", "invalid argument: promised: k != 3 does not hold", x=x, keep=three)
check("all", (5,), x=x, keep=x < 5)
unequal = "'ensure' expects f32[n], but got f32[selected] of other sizes"
check("all", f"failed precondition: all: {unequal}", x=x, keep=x < 4)
check("without_first", (2,), x=x, keep=three)
check("without_first", (0,), x=x, keep=one)
check("without_first", "out of range: without_first: the size k - 1 is negative", x=x, keep=none)
check("partition", (2,), x=x, label=np.array([0, 1, 1, 0, 1], np.int32))
outside = "out of range: partition: 'gather' got an index outside of i32[2]"
check("partition", outside, x=x, label=np.array([0, 1, 2, 0, 1], np.int32))
print("failing calls as expected" if not wrong else f"{wrong} wrong")
sys.exit(1 if wrong else 0)
