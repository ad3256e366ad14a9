"""The rows of batches: each of an epoch once, in the order of the seed, from where a checkpoint was."""

import sys

import numpy as np

sys.path.insert(0, f"{__file__.rsplit('/', 3)[0]}/Inputs")
from model import Failed, Model

values = np.arange(101, dtype=np.int32) * 3
np.save("values.npy", values)
model = Model("batches.so")


def take(name, count, of=None):
    return [(of or model).call(name)[0] for _ in range(count)]


ordered = np.concatenate(take("ordered", 30))
assert np.array_equal(ordered, np.tile(values, 3)[:240]), ordered
print("in order:", len(ordered), "rows")

# 91 rows from row 10 on are shuffled; batches of 8 pass the ends of epochs.
order = np.concatenate(take("shuffled", 91))
epochs = order.reshape(8, 91)
for epoch in epochs:
    assert np.array_equal(np.sort(epoch), values[10:])
assert len({tuple(epoch) for epoch in epochs}) == 8
print("shuffled:", len(epochs), "different epochs")

other = Model("batches.so", reader_threads=3)
assert np.array_equal(np.concatenate(take("shuffled", 91, other)), order)
model["train.position"] = np.int64(0)
ahead = take("shuffled", 5)
model.save("five.safetensors")
rest = take("shuffled", 7)
model.load("five.safetensors")
assert np.array_equal(take("shuffled", 7), rest)
other.load("five.safetensors")
assert np.array_equal(take("shuffled", 7, other), rest)
print("position after loading:", int(other["train.position"]))

try:
    model.call("failing", i=np.int32(9))
except Failed as failure:
    print(failure)
print("position after a failure:", int(model["train.position"]))
model.call("failing", i=np.int32(1))
print("and a success:", int(model["train.position"]))

first, second = model.call("on_devices")
assert np.array_equal(np.concatenate([first, second]), values[:16])
print("on two devices:", len(first) + len(second), "rows")
parts = [model.call("share", number=np.int64(k), count=np.int64(3))[0] for k in (0, 1, 2, 0)]
print("parts:", [int(p[0]) // 3 for p in parts], "position", int(model["own.position"]))
pad = [model.call("pad", first=np.int64(i))[0].tolist() for i in (96, 100, 101)]
print("behind the end:", pad)

# Another file without the rows of these batches.
np.save("short.npy", values[:4])
model.open_dataset("values", ["short.npy"])
try:
    model.call("shuffled")
except Failed as failure:
    print(failure)
