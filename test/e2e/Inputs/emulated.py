"""A model whose library is for another processor, in an emulator: `Model` of model.py becomes one for such a library.

The program emulated.c loads it there; requests and replies go through pipes.
"""

import os
import platform
import struct
import subprocess
import tempfile

import numpy as np

import model

HERE = os.path.dirname(os.path.abspath(__file__))
CALL, GET, SET, SAVE, LOAD = range(1, 6)
# The processors by the number in the header of an ELF file.
MACHINES = {62: "x86_64", 183: "aarch64"}
programs = {}


def machine_of(path):
    with open(path, "rb") as file:
        return MACHINES.get(struct.unpack_from("<H", file.read(20), 18)[0])


def is_foreign(path):
    try:
        return machine_of(path) not in (None, platform.machine())
    except (OSError, struct.error):
        return False


def program_for(machine):
    """The command that serves a library for a machine."""
    if machine not in programs:
        folder = tempfile.TemporaryDirectory()
        program = os.path.join(folder.name, "emulated")
        runtime = os.path.join(HERE, "..", "..", "..", "runtime")
        subprocess.run([f"{machine}-linux-gnu-gcc", "-std=gnu11", "-O1", "-I", runtime,
                        os.path.join(HERE, "emulated.c"), "-ldl", "-o", program], check=True)
        programs[machine] = folder, program
    return [f"qemu-{machine}", "-L", f"/usr/{machine}-linux-gnu", programs[machine][1]]


class EmulatedModel(model.Model):
    """Has one thread unless another number is asked for: emulated threads that wait for each other take long."""

    def __init__(self, path, threads=0):
        path = os.path.abspath(path)
        self._instance = None
        self._process = subprocess.Popen([*program_for(machine_of(path)), path, str(threads or 1)],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._finish()
        self.entries, self._feed_dtypes, self._types = {}, {}, {}
        for _ in range(self._word()):
            name, feeds, fetches = self._text(), self._word(), self._word()
            values = [self._value() for _ in range(feeds + fetches)]
            named = [(v[0], model.DTYPES[v[2]]) for v in values]
            self.entries[name] = named[:feeds], named[feeds:]
            self._feed_dtypes[name] = [v[2] for v in values[:feeds]]
            self._types[name] = [(model.DTYPES[v[2]], v[1]) for v in values[:feeds]]
        self.variables, self._variable_dtypes = {}, {}
        for name, _, dtype, dims in [self._value() for _ in range(self._word())]:
            self.variables[name] = model.DTYPES[dtype], dims
            self._variable_dtypes[name] = dtype

    def __del__(self):
        for pipe in self._process.stdin, self._process.stdout:
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        self._process.wait()

    def call_raw(self, entry, arrays, fetch_count, dtypes=None, missing=()):
        self._begin(CALL, entry, len(arrays), fetch_count)
        for number, array in enumerate(arrays):
            dtype = dtypes[number] if dtypes else None
            self._send(array if number not in missing else None, dtype, array.shape, array.dtype)
        self._finish()
        return [self._tensor() for _ in range(fetch_count)]

    def feed_types(self, entry):
        return self._types[entry]

    def __getitem__(self, variable):
        dtype, shape = self.variables[variable]
        self._begin(GET, variable)
        self._send(None, self._variable_dtypes[variable], shape, dtype)
        self._finish()
        return self._tensor()

    def __setitem__(self, variable, value):
        array = self._as(value, self.variables[variable][0])
        self._begin(SET, variable)
        self._send(array, self._variable_dtypes[variable], array.shape, array.dtype)
        self._finish()

    def save(self, path):
        self._begin(SAVE, os.path.abspath(path))
        self._finish()

    def load(self, path):
        self._begin(LOAD, os.path.abspath(path))
        self._finish()

    # Messages

    def _begin(self, request, name, *words):
        text = name.encode()
        head = struct.pack("<qq", request, len(text)) + text
        self._process.stdin.write(head + struct.pack(f"<{len(words)}q", *words))

    def _send(self, array, dtype, shape, kind):
        if dtype is None:
            dtype = next(i for i, known in enumerate(model.DTYPES) if np.dtype(known) == kind)
        words = [dtype, len(shape), *shape, int(array is not None)]
        self._process.stdin.write(struct.pack(f"<{len(words)}q", *words))
        if array is not None:
            self._process.stdin.write(np.ascontiguousarray(array).tobytes())

    def _finish(self):
        """Awaits the status of a request; results may follow it."""
        self._process.stdin.flush()
        if self._word():
            name, message = self._text(), self._text()
            raise model.Failed(name, message)

    def _bytes(self, count):
        data = self._process.stdout.read(count)
        if len(data) != count:
            raise RuntimeError(f"the emulated process ended with {self._process.wait()}")
        return data

    def _word(self):
        return struct.unpack("<q", self._bytes(8))[0]

    def _text(self):
        return self._bytes(self._word()).decode()

    def _value(self):
        name, kind, dtype = self._text(), self._text(), self._word()
        return name, kind, dtype, tuple(self._word() for _ in range(self._word()))

    def _tensor(self):
        dtype = np.dtype(model.DTYPES[self._word()])
        shape = tuple(self._word() for _ in range(self._word()))
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self._bytes(count * dtype.itemsize), dtype).reshape(shape).copy()
