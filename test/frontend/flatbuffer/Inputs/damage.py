"""damage.py GRAPH FOLDER: writes damaged and extreme copies of a binary graph, and prints how tfc-import ends with each."""

import os
import struct
import subprocess
import sys

import flatbuffers

graph, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)


def check(name, content):
    with open("a.tfg", "wb") as file:
        file.write(content)
    done = subprocess.run(["tfc-import", "a.tfg"], capture_output=True, text=True, errors="replace", timeout=60)
    errors = done.stderr.splitlines() or [f"ended with {done.returncode}"]
    limits = [error for error in errors if error.endswith("[too-large]")]
    print(f"{name}: {(limits or errors)[0]}")


class Writer(flatbuffers.Builder):
    """Writes tables of the schema by the numbers of their fields."""

    def table(self, **fields):
        fields = {int(name[1:]): value for name, value in fields.items()}
        self.StartObject(max(fields, default=-1) + 1)
        for number, value in fields.items():
            if number >= 0 and isinstance(value, tuple):
                kind, value = value
                getattr(self, f"Prepend{kind}Slot")(number, value, 0 if value else 1)
            else:
                self.PrependUOffsetTRelativeSlot(number, value, 0)
        return self.EndObject()

    def tables(self, offsets):
        self.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.PrependUOffsetTRelative(offset)
        return self.EndVector()

    def done(self, root):
        self.Finish(root, file_identifier=b"TFCG")
        return bytes(self.Output())


EDITION = ("Uint32", 1)
UNION_NODE = ("Uint8", 2)


def nested_regions(levels):
    """An entry whose only node has regions within regions."""
    w = Writer(1024)
    operation, name = w.CreateString("dataflow"), w.CreateString("e")
    node = w.table(_0=operation)
    for _ in range(levels):
        node = w.table(_0=operation, _4=w.tables([w.table(_1=w.tables([node]))]))
    entry = w.table(_0=name, _8=w.tables([node]))
    return w.done(w.table(_0=EDITION, _5=w.tables([entry])))


def nested_lists(levels):
    w = Writer(1024)
    queue, name = w.CreateString("queue"), w.CreateString("components")
    value = w.table(_1=("Uint8", 13), _2=w.table(_0=w.tables([])))
    for _ in range(levels):
        value = w.table(_1=("Uint8", 13), _2=w.table(_0=w.tables([value])))
    outer = w.table(_0=name, _1=("Uint8", 13), _2=w.table(_0=w.tables([value])))
    node = w.table(_0=queue, _3=w.tables([outer]))
    return w.done(w.table(_0=EDITION, _4=w.tables([w.table(_0=UNION_NODE, _1=node)])))


def nested_places(levels):
    w = Writer(1024)
    places = [w.table(_0=("Uint8", 3), _7=("Int32", i - 1), _8=("Int32", i - 1)) for i in range(levels)]
    return w.done(w.table(_0=EDITION, _3=w.tables(places)))


def shared_strings(count, length):
    """Many entries with one long name."""
    w = Writer(1024)
    name = w.CreateString("x" * length)
    entry = w.table(_0=name)
    return w.done(w.table(_0=EDITION, _5=w.tables([entry] * count)))


def shared_tables(levels, width):
    """Each region has many references to the next one."""
    w = Writer(1024)
    operation = w.CreateString("dataflow")
    node = w.table(_0=operation)
    for _ in range(levels):
        node = w.table(_0=operation, _4=w.tables([w.table(_1=w.tables([node] * width))]))
    return w.done(w.table(_0=EDITION, _5=w.tables([w.table(_0=w.CreateString("e"), _8=w.tables([node]))])))


with open(graph, "rb") as file:
    whole = file.read()

check("empty", b"")
check("four bytes", whole[:4])
check("another identifier", whole[:4] + b"TFL3" + whole[8:])
check("half", whole[: len(whole) // 2])
check("an offset outside", struct.pack("<I", 0x7FFFFFF0) + whole[4:])
check("regions", nested_regions(250))
check("deep regions", nested_regions(260))
check("deeper regions", nested_regions(5000))
check("deep lists", nested_lists(20))
check("deep places", nested_places(1500))
check("one name", shared_strings(20000, 100000))
check("one region", shared_tables(30, 4))
