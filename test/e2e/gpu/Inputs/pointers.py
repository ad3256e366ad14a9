"""pointers.py LIBRARY: calls entries whose feeds and fetches are on the GPU, in all combinations."""

import ctypes
import itertools
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
from device_memory import DeviceMemory
from model import DeviceArray, Failed, Model

path, = sys.argv[1:]
random, memory, stream = np.random.default_rng(0), DeviceMemory(), ctypes.c_void_p()
memory.call("cuStreamCreate", ctypes.byref(stream), 1)


def compare(model, entry, feeds, want, on=None):
    for places in itertools.product([False, True], repeat=len(feeds) + len(want)):
        fetches = [np.zeros(np.shape(value), np.float32) for value in want]
        values = [memory.to_device(value, on) if there else value for value, there in zip([*feeds, *fetches], places)]
        given, results = values[: len(feeds)], values[len(feeds) :]
        model.call_into(entry, given, results)
        for value, expected in zip(results, want):
            got = memory.to_host(value) if isinstance(value, DeviceArray) else value
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5, err_msg=f"{entry} {places}")
        for value in given:
            if isinstance(value, DeviceArray):
                memory.to_host(value)


def normal(*shape):
    return random.normal(size=shape).astype(np.float32)


for streams in [], [stream]:
    on = streams[0] if streams else None
    model = Model(path, threads=1, gpu_streams=streams)
    for n in 0, 3, 40:
        x, z = normal(n, 8), normal(8)
        compare(model, "on_gpu", [x], [np.repeat(x.sum(axis=1, keepdims=True), 8, axis=1) + 1], on)
        a = np.array(random.normal(), np.float32)
        compare(model, "scalar", [x, a], [x * a, 64 * a], on)
        compare(model, "on_both", [x, z], [x + z, x.sum(axis=0) * z], on)
        compare(model, "own", [x], [x + 1], on)
    x = normal(5)
    compare(model, "on_host", [x, np.array(True)], [2 * x], on)
    compare(model, "on_host", [x, np.array(False)], [x], on)
    # A call that fails changes no variable, wherever its feeds are.
    x = memory.to_device(normal(8))
    try:
        model.call_into("fails", [x, np.array(9, np.int32)], [np.zeros((), np.float32)])
        raise AssertionError("an index beyond the end is accepted")
    except Failed as failure:
        assert failure.status == "out of range", failure.status
    np.testing.assert_array_equal(model["w"], np.ones((8, 8)))
    memory.to_host(x)
    # A fork has a stream of its own.
    x = normal(3, 8)
    compare(model.fork(), "on_gpu", [x], [np.repeat(x.sum(axis=1, keepdims=True), 8, axis=1) + 1])
    del model
memory.call("cuStreamDestroy_v2", stream)
memory.close()
