"""Reads the rows of a dataset in each format, in any order, and compares them with the arrays they were written from."""

import sys

import numpy as np

sys.path[:0] = [f"{__file__.rsplit('/', 3)[0]}/Inputs", __file__.rsplit("/", 1)[0]]
import tfrecord
from model import Model

rng = np.random.default_rng(3)
count = 1000
x = rng.standard_normal((count, 3, 5)).astype(np.float32)
k = rng.integers(-2**62, 2**62, count)
k[:2] = [2**63 - 1, -(2**63)]
b = rng.integers(0, 2, (count, 2)).astype(bool)
u = rng.integers(0, 256, (count, 7)).astype(np.uint8)

with open("rows.csv", "w") as file:
    file.write("a header\nand another\n")
    for i in range(count):
        # Digits that give the same f32 again, in several forms; empty lines and white space do not count.
        numbers = [f"{v:.9g}" if i % 3 else f" {v:.17e} " for v in x[i].ravel()]
        flags = [("true" if v else "False") if i % 2 else str(int(v)) for v in b[i]]
        words = numbers + [f'"{k[i]}"' if i % 5 == 0 else str(k[i])] + flags + [str(v) for v in u[i]]
        file.write(",".join(words) + ("\r\n" if i % 7 else "\n\n  \n"))
    file.seek(file.tell() - 1)  # the last line has no end
    file.truncate()
for name, array in (("x", x), ("k", k), ("b", b), ("u", u)):
    np.save(f"{name}.npy", array)


def safetensors(path, tensors):
    import json

    names = {np.float32: "F32", np.int64: "I64", np.bool_: "BOOL", np.uint8: "U8"}
    header, data = {}, b""
    for name, array in tensors.items():
        begin = len(data)
        data += array.tobytes()
        header[name] = {"dtype": names[array.dtype.type], "shape": array.shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


# Several files follow each other.
for part, rows in enumerate(np.array_split(np.arange(count), 3)):
    safetensors(f"part-{part}.safetensors", {"other": u[:4], "u": u[rows], "b": b[rows], "k": k[rows], "x": x[rows]})
    with open(f"part-{part}.bin", "wb") as file:
        file.write(b"skipped")
        for i in rows:
            file.write(x[i].tobytes() + k[i].tobytes() + b[i].tobytes() + u[i].tobytes())
    with open(f"part-{part}.tfrecord", "wb") as file:
        for i in rows:
            features = {
                "u": tfrecord.strings([u[i].tobytes()]),
                "k": tfrecord.integers([int(k[i])], packed=i % 2 == 0),
                "b": tfrecord.integers([int(v) for v in b[i]], packed=i % 3 == 0),
                "x": tfrecord.floats(list(x[i].ravel()), packed=i % 5 != 0),
                "another": tfrecord.strings([b"text" * 100]),
            }
            file.write(tfrecord.record(tfrecord.example(features)))

model = Model("formats.so")
for entry in ("csv", "npy", "safetensors", "tfrecord", "raw"):
    total = 0
    for n in (1, 2, 31, 256):
        rows = rng.integers(0, count, n)
        rows[n // 2 :] = np.arange(n - n // 2) + rng.integers(0, count - n)
        if n > 2:
            rows[::9] = -1
        # Every other time the rows have been read ahead.
        for again in range(2):
            *got, size = model.call(f"read_{entry}", rows=rows, next=rows)
            assert size == count
            for want, values in zip((x, k, b, u), got):
                expected = np.where((rows >= 0).reshape(-1, *[1] * (want.ndim - 1)), want[rows], 0)
                assert values.dtype == want.dtype and np.array_equal(values, expected), entry
            total += n
    print(entry, "rows", total)
