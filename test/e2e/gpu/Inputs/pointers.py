"""pointers.py LIBRARY: calls entries whose feeds and fetches are on the GPU, in all combinations."""

import ctypes
import itertools
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
from model import DeviceArray, Failed, Model

path, = sys.argv[1:]
driver, context = ctypes.CDLL(os.environ.get("TFC_CUDA_DRIVER", "libcuda.so.1")), ctypes.c_void_p()
random, word = np.random.default_rng(0), ctypes.c_uint64


def check(result):
    assert result == 0, result


check(driver.cuInit(0))
check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(driver.cuCtxSetCurrent(context))
stream = ctypes.c_void_p()
check(driver.cuStreamCreate(ctypes.byref(stream), 1))


def to_device(array, on=None):
    """A copy of an array on the device, by a stream or at once."""
    address = word()
    check(driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(array.nbytes, 1))))
    check(driver.cuMemcpyHtoDAsync_v2(address, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), on))
    if on is None:
        check(driver.cuStreamSynchronize(None))
    return DeviceArray(address.value, array.shape, array.dtype)


def to_host(array):
    result = np.empty(array.shape, array.dtype)
    check(driver.cuMemcpyDtoHAsync_v2(ctypes.c_void_p(result.ctypes.data), word(array.address), ctypes.c_size_t(result.nbytes), None))
    check(driver.cuStreamSynchronize(None))
    check(driver.cuMemFree_v2(word(array.address)))
    return result


def compare(model, entry, feeds, want, on=None):
    for places in itertools.product([False, True], repeat=len(feeds) + len(want)):
        fetches = [np.zeros(np.shape(value), np.float32) for value in want]
        values = [to_device(value, on) if there else value for value, there in zip([*feeds, *fetches], places)]
        given, results = values[: len(feeds)], values[len(feeds) :]
        model.call_into(entry, given, results)
        for value, expected in zip(results, want):
            got = to_host(value) if isinstance(value, DeviceArray) else value
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5, err_msg=f"{entry} {places}")
        for value in given:
            if isinstance(value, DeviceArray):
                to_host(value)


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
    x = to_device(normal(8))
    try:
        model.call_into("fails", [x, np.array(9, np.int32)], [np.zeros((), np.float32)])
        raise AssertionError("an index beyond the end is accepted")
    except Failed as failure:
        assert failure.status == "out of range", failure.status
    np.testing.assert_array_equal(model["w"], np.ones((8, 8)))
    to_host(x)
    # A fork has a stream of its own.
    x = normal(3, 8)
    compare(model.fork(), "on_gpu", [x], [np.repeat(x.sum(axis=1, keepdims=True), 8, axis=1) + 1])
    del model
check(driver.cuStreamDestroy_v2(stream))
check(driver.cuDevicePrimaryCtxRelease_v2(0))
