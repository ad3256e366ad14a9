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
    text = f"the size 'steps' at failing.graph:13 is {count}, which is not in [0, 10]"
    check("counted", f"out of range: counted: {text}", count=count)
check("tight", (3,), x=x, keep=three)
large = "the size 'k' at failing.graph:18 is 4, which is not in [0, 3]"
check("tight", f"out of range: tight: {large}", x=x, keep=x < 4)
check("promised", (5,), x=x, keep=x < 5)
promised = "invalid argument: promised: {} at failing.graph:21 does not hold: k is {}"
check("promised", promised.format("k >= 1", 0), x=x, keep=none)
check("promised", promised.format("k != 3", 3), x=x, keep=three)
check("all", (5,), x=x, keep=x < 5)
unequal = "'ensure' at failing.graph:27 expects f32[n], but got f32[selected]: n is 5, selected is 4"
check("all", f"failed precondition: all: {unequal}", x=x, keep=x < 4)
check("without_first", (2,), x=x, keep=three)
check("without_first", (0,), x=x, keep=one)
negative = "the size k - 1 at failing.graph:31 is negative: k is 0"
check("without_first", f"out of range: without_first: {negative}", x=x, keep=none)
check("partition", (2,), x=x, label=np.array([0, 1, 1, 0, 1], np.int32))
outside = "out of range: partition: 'dynamic_partition' at failing.graph:36 got partition 2, but expects 0 to 1"
check("partition", outside, x=x, label=np.array([0, 1, 2, 0, 1], np.int32))
print("failing calls as expected" if not wrong else f"{wrong} wrong")
sys.exit(1 if wrong else 0)
