"""failing-calls.py MODEL.so: what only the data show makes a call fail, and nothing else."""

import sys

import numpy as np
from model import Failed, Model

model = Model(sys.argv[1])
wrong = 0


def check(entry, message, status="out of range", **feeds):
    """Calls an entry; with a message, the call must fail with it and `status` and change nothing."""
    global wrong
    count, table = model["count"], model["table"]
    try:
        model.call(entry, **feeds)
        got = None
    except Failed as error:
        got = f"{error.status}: {error}"
    expected = message and f"{status}: {entry}: {message}"
    if got != expected:
        wrong += 1
        print(f"{entry}: expected {expected!r}, got {got!r}")
    if model["count"] - count != (1 if message is None else 0) or (model["table"] != table).any():
        wrong += 1
        print(f"{entry}: a failed call changed a variable, or a good one did not")


def ints(*values):
    return np.array(values, np.int32)


outside = "got an index outside of f32[5, 2]"
for bad in -1, 5, 2**31 - 1, -(2**31):
    check("rows", "'gather' " + outside, i=ints(0, bad))
    check("added", "'scatter_add' " + outside, i=ints(bad, 1))
check("rows", None, i=ints(0, 4))
check("rows", None, i=ints())
check("added", None, i=ints(0, 0))
check("pairs", "'gather_nd' " + outside, i=np.array([[0, 2]], np.int32))
check("pairs", "'gather_nd' " + outside, i=np.array([[5, 0]], np.int32))
check("pairs", None, i=np.array([[4, 1]], np.int32))
logits = np.zeros((2, 3), np.float32)
not_there = "'sparse_softmax_cross_entropy' got a label outside of the 3 classes"
check("loss", not_there, x=logits, label=np.array([0, 3]))
check("loss", not_there, x=logits, label=np.array([-1, 0]))
check("loss", None, x=logits, label=np.array([2, 0]))
by_zero = "'floordiv' divides an integer by 0"
check("divided", by_zero, "invalid argument", x=ints(1, 2), y=ints(1, 0))
check("divided", None, x=ints(-(2**31), 2), y=ints(-1, -3))
check("front", "'slice' reaches outside of f32[n]", x=np.zeros(3, np.float32), y=np.zeros(4, np.float32))
check("front", None, x=np.zeros(3, np.float32), y=np.zeros(3, np.float32))
check("padded", "'pad' got a negative number of elements to add to f32[n]", x=np.ones(3, np.float32),
      y=np.ones(1, np.float32))
check("padded", None, x=np.ones(3, np.float32), y=np.ones(2, np.float32))
check("largest", "'top_k' got k = k, which is out of range for f32[n]", x=np.ones(3, np.float32),
      y=np.ones(4, np.float32))
check("largest", None, x=np.ones(3, np.float32), y=np.ones(3, np.float32))
check("reduced", "'scatter_reduce' got an index outside of f32[3]", i=np.int32(3))
check("reduced", None, i=np.int32(2))
for bad in -1, 5:
    check("chosen", "'gather' " + outside, i=np.int32(bad))
check("chosen", None, i=np.int32(4))
for bad in -1, 5:
    check("branched", "'gather' " + outside, i=np.int32(bad), take=np.bool_(True))
    check("branched", None, i=np.int32(bad), take=np.bool_(False))
    check("listed", "'list_read' got a position outside of the list", i=np.int32(bad))
check("listed", None, i=np.int32(4))
check("looped", "'gather' " + outside, i=np.int32(6))
not_three = "'list_stack' expects a list of 3 elements"
for count in 0, 2, 4:
    check("unequal", not_three, n=np.int32(count))
check("unequal", None, n=np.int32(3))
differs = "'ensure' expects f32[n, 2], but got f32[m, 2] of other sizes"
for rows in 0, 2, 4:
    check("same", differs, "failed precondition", x=np.ones((3, 2), np.float32), y=np.ones((rows, 2), np.float32))
check("same", differs, "failed precondition", x=np.ones((0, 2), np.float32), y=np.ones((1, 2), np.float32))
check("same", None, x=np.ones((3, 2), np.float32), y=np.ones((3, 2), np.float32))
check("same", None, x=np.ones((0, 2), np.float32), y=np.ones((0, 2), np.float32))
print(f"{wrong} wrong")
sys.exit(1 if wrong else 0)
