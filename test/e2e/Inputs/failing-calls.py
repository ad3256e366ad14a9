"""failing-calls.py MODEL.so: checks that invalid data, and nothing else, make a call fail."""

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


def at(op, line):
    return f"'{op}' at failing-calls.graph:{line} "


def outside(op, line, index, axis="axis 0 of f32[5, 2]"):
    return at(op, line) + f"got index {index} of {axis}"


for bad in -1, 5, 2**31 - 1, -(2**31):
    check("rows", outside("gather", 14, bad), i=ints(0, bad))
    check("added", outside("scatter_add", 19, bad), i=ints(bad, 1))
# Of several wrong indices, the message shows the one that is largest as an unsigned number.
check("rows", outside("gather", 14, -2), i=ints(7, 9, -2, -5, 0))
check("rows", outside("gather", 14, 9), i=ints(7, *range(5), 9, 8))
check("rows", None, i=ints(0, 4))
check("rows", None, i=ints())
check("added", None, i=ints(0, 0))
columns = "axis 1 of f32[5, 2], whose size is 2"
check("pairs", outside("gather_nd", 24, 2, columns), i=np.array([[0, 2]], np.int32))
check("pairs", outside("gather_nd", 24, 5, "axis 0 of f32[5, 2], whose size is 5"),
      i=np.array([[0, 3], [5, 0]], np.int32))
check("pairs", None, i=np.array([[4, 1]], np.int32))
logits = np.zeros((2, 3), np.float32)
no_class = at("sparse_softmax_cross_entropy", 29) + "got label {} of axis 1 of f32[n, 3]"
check("loss", no_class.format(3), x=logits, label=np.array([0, 3]))
check("loss", no_class.format(-1), x=logits, label=np.array([-1, 0]))
check("loss", None, x=logits, label=np.array([2, 0]))
by_zero = at("//", 34) + "divides an integer by 0"
check("divided", by_zero, "invalid argument", x=ints(1, 2), y=ints(1, 0))
check("divided", None, x=ints(-(2**31), 2), y=ints(-1, -3))
check("front", at("x[:m]", 39) + "reaches outside of f32[n]: m is 4, n is 3", x=np.zeros(3, np.float32),
      y=np.zeros(4, np.float32))
check("front", None, x=np.zeros(3, np.float32), y=np.zeros(3, np.float32))
check("padded", at("pad", 44) + "got a negative number of elements to add to f32[n]: m is 1",
      x=np.ones(3, np.float32), y=np.ones(1, np.float32))
check("padded", None, x=np.ones(3, np.float32), y=np.ones(2, np.float32))
check("largest", at("top_k", 86) + "got k = k, which is out of range for f32[n]: k is 4, n is 3",
      x=np.ones(3, np.float32), y=np.ones(4, np.float32))
check("largest", None, x=np.ones(3, np.float32), y=np.ones(3, np.float32))
check("reduced", outside("scatter_reduce", 92, 3, "axis 0 of f32[3]"), i=np.int32(3))
check("reduced", None, i=np.int32(2))
for bad in -1, 5:
    check("chosen", outside("table[i]", 49, bad), i=np.int32(bad))
check("chosen", None, i=np.int32(4))
for bad in -1, 5:
    check("branched", outside("table[i]", 70, bad), i=np.int32(bad), take=np.bool_(True))
    check("branched", None, i=np.int32(bad), take=np.bool_(False))
    check("listed", at("unstack(table)[i]", 75) + f"got position {bad} of a list of 5 elements", i=np.int32(bad))
check("listed", None, i=np.int32(4))
check("looped", outside("table[k]", 62, 5), i=np.int32(6))
for count in 0, 2, 4:
    check("unequal", at("stack", 81) + f"expects a list of 3 elements, but got {count}", n=np.int32(count))
check("unequal", None, n=np.int32(3))
differs = at("ensure", 54) + "expects f32[n, 2], but got f32[m, 2]: n is {}, m is {}"
for rows in 0, 2, 4:
    check("same", differs.format(3, rows), "failed precondition", x=np.ones((3, 2), np.float32),
          y=np.ones((rows, 2), np.float32))
check("same", differs.format(0, 1), "failed precondition", x=np.ones((0, 2), np.float32),
      y=np.ones((1, 2), np.float32))
check("same", None, x=np.ones((3, 2), np.float32), y=np.ones((3, 2), np.float32))
check("same", None, x=np.ones((0, 2), np.float32), y=np.ones((0, 2), np.float32))
# The table is the author's, not a slice of it, and so are the index and the axis in functions that flatten.
for bad in -1, 5:
    check("cell", outside("table[i, 0]", 98, bad), i=np.int32(bad), j=np.int32(0))
check("cell", outside("table[1, j]", 99, 2, "axis 1 of f32[5, 2]"), i=np.int32(4), j=np.int32(2))
check("both", outside("table[i, j]", 104, 7), i=np.int32(7), j=np.int32(9))
check("both", outside("table[i, j]", 104, -1, "axis 1 of f32[5, 2]"), i=np.int32(0), j=np.int32(-1))
check("both", None, i=np.int32(4), j=np.int32(1))
cubes = "axis {} of f32[b, 3, 2]"
x = np.ones((2, 3, 2), np.float32)
for bad in -1, 3, 5, 2**62:
    check("batched", outside("batch_gather", 109, bad, cubes.format(1)), x=x, i=np.array([[0, 2], [bad, 1]]))
    at_depth = np.array([[0, 1], [1, bad]])
    check("placed", outside("scatter_nd", 114, bad, cubes.format(1)), x=x, i=at_depth)
    check("placed", outside("scatter_nd", 114, bad, cubes.format(0) + ", whose size is 2"), x=x,
          i=at_depth[:, ::-1].copy())
check("batched", None, x=x, i=np.array([[0, 2], [2, 1]]))
check("placed", None, x=x, i=np.array([[0, 2], [1, 1]]))
for bad in -1, 2:
    check("parts", at("dynamic_partition", 119) + f"got partition {bad}, but expects 0 to 1", p=ints(0, bad, 1))
check("parts", None, p=ints(0, 1, 1))
check("sums", outside("segment_sum", 125, 4, "axis 0 of f32[4]"), i=ints(0, 4))
check("sums", None, i=ints(0, 3))
# The text that the author wrote, with signs that formats use.
check("refused", "100 % of %lld %% are wrong", "failed precondition", x=np.float32(-1))
check("refused", None, x=np.float32(1))
even = "{} % 2 == 0 at failing-calls.graph:133 does not hold: {} is 3"
check("folded", even.format("k", "k"), "invalid argument", x=np.ones(3, np.float32))
check("folded", None, x=np.ones(4, np.float32))
print(f"{wrong} wrong")
sys.exit(1 if wrong else 0)
