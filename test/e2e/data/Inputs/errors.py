"""Damaged and unsuitable files: prints the message of each."""

import sys

import numpy as np

sys.path[:0] = [f"{__file__.rsplit('/', 3)[0]}/Inputs", __file__.rsplit("/", 1)[0]]
import tfrecord
from model import Failed, Model

model = Model("errors.so")


def attempt(what, function):
    try:
        function()
        print(f"{what}: no error")
    except Failed as failure:
        print(f"{what}: {failure}")


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def read(entry, rows=(0,)):
    return lambda: model.call(entry, rows=np.array(rows))


# The files are opened by the first read; one that has failed is tried again.
attempt("missing", read("csv"))
write("rows.csv", b"1,2,3\n4,5,6\n")
model.call("csv", rows=np.array([1]))
attempt("outside", read("csv", [0, 2]))
steps = model["steps"]
attempt("effect", lambda: model.call("count", rows=np.array([2])))
print("steps changed by", model["steps"] - steps)


def lines(what, text, rows=(0,)):
    write("other.csv", text)
    model.open_dataset("lines", ["other.csv"])
    attempt(what, read("csv", rows))


lines("word", b"1,2,3\n1,x,3\n", [0, 1])
lines("hex", b"0x10,2,3\n")
lines("fraction", b"1,2,3.5\n")
lines("large", b"1,2,300\n")
lines("negative", b"1,2,-1\n")
lines("empty field", b"1,,3\n")
lines("quote", b'1,"2,3\n')
lines("few", b"1,2\n")
lines("many", b"1,2,3,4\n")
lines("zero", b"1,2\0,3\n")
lines("old Mac", b"1,2,3\r4,5,6\r")
lines("after the end", b"1,2,3\rjunk\n")
lines("after a zero", b"1,2,3\0garbage\n")
lines("control", b"1,\x1b[31m\xff,3\n")
lines("mark", b"\xef\xbb\xbf1,2,3\n")
lines("no rows", b"\n\n  \n")
attempt("empty", lambda: print("size", model.size_csv()[0]))

attempt("directory", lambda: model.open_dataset("lines", ["."]))
attempt("pattern", lambda: model.open_dataset("lines", ["no*.csv"]))
attempt("none", lambda: model.open_dataset("lines", []))
attempt("name", lambda: model.open_dataset("rows", ["rows.csv"]))
model.open_dataset("lines", ["rows.csv"])
attempt("second file", lambda: model.open_dataset("lines", ["rows.csv", "absent.csv"]))
print("still", model.call("csv", rows=np.array([1]))[0].tolist())

with open("rows.csv", "r+b") as file:
    file.truncate(7)
attempt("shorter", read("csv", [1]))

array = np.arange(6, dtype=np.float32).reshape(3, 2)


def arrays(what, x, k):
    np.save("x.npy", x)
    np.save("k.npy", k)
    attempt(what, lambda: model.open_dataset("arrays", ["x.npy", "k.npy"]))


arrays("fits", array, np.zeros(3, np.uint8))
arrays("dtype", array.astype(np.float64), np.zeros(3, np.uint8))
arrays("big endian", array.astype(">f4"), np.zeros(3, np.uint8))
arrays("shape", array.reshape(2, 3), np.zeros(3, np.uint8))
arrays("rank", array, np.zeros((3, 1), np.uint8))
arrays("no axis", np.float32(1), np.zeros(3, np.uint8))
arrays("count", array, np.zeros(4, np.uint8))
arrays("order", np.asfortranarray(array), np.zeros(3, np.uint8))
np.save("k.npy", np.zeros(3, np.uint8))
np.save("x.npy", array)
whole = open("x.npy", "rb").read()
for what, data in (("truncated", whole[:-1]), ("header", whole[:40]), ("magic", b"x" + whole[1:]), ("no file", b"")):
    write("x.npy", data)
    attempt(what, lambda: model.open_dataset("arrays", ["x.npy", "k.npy"]))
attempt("one path", lambda: model.open_dataset("arrays", ["x.npy"]))


def tensors(what, text, data=b"\0" * 12, length=None):
    text = text.encode()
    write("t.safetensors", (len(text) if length is None else length).to_bytes(8, "little") + text + data)
    attempt(what, lambda: model.open_dataset("tensors", ["t.safetensors"]))


tensors("fits", '{"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"k":{"dtype":"U8","shape":[1],"data_offsets":[8,9]}}', b"\0" * 9)
tensors("tensor", '{"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}', b"\0" * 8)
tensors("element", '{"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}', b"\0" * 8)
tensors("json", '{"x":')
tensors("length", "{}", length=2**62)


def raw(what, data):
    write("r.bin", data)
    attempt(what, lambda: (model.open_dataset("bytes", ["r.bin"]), model.call("raw", rows=np.array([0]))))


raw("rest", b"1234" + b"\0" * 5)
raw("skip", b"12")
raw("bool", b"1234" + b"\1\2")

good = {"x": tfrecord.floats([1.0, 2.0]), "k": tfrecord.integers([7])}


def records(what, data, rows=(0,)):
    write("r.tfrecord", data)

    def use():
        model.open_dataset("records", ["r.tfrecord"])
        model.call("tfrecord", rows=np.array(rows))

    attempt(what, use)


def example(**features):
    return tfrecord.record(tfrecord.example({**good, **features}))


records("shorter list", example(x=tfrecord.floats([3.0])))
records("gzip", b"\x1f\x8b" + b"\0" * 20)
records("checksum", example()[:-1] + b"!")
records("length", b"#" + example()[1:])
records("cut", example() + example()[:-3], [1])
records("rest", example() + b"xx")
records("feature", tfrecord.record(tfrecord.example({"x": good["x"]})))
records("kind", example(k=tfrecord.floats([1.0])))
records("kind", example(x=tfrecord.integers([1])))
records("longer", example(x=tfrecord.floats([1.0, 2.0, 3.0])))
records("range", example(k=tfrecord.integers([256])))
records("bytes", example(x=tfrecord.strings([b"12345"])))
records("message", tfrecord.record(b"\x0a\xff\xff"))
records("nested", tfrecord.record(tfrecord.field(1, tfrecord.field(1, b"\x0a\x01x\x12\x7f"))))
