"""Memory of the GPU that a process allocates itself, by the driver that models use."""

import ctypes
import os

import numpy as np
from model import DeviceArray


class DeviceMemory:
    """Holds the context of the first GPU until `close`, and makes it that of this thread."""

    def __init__(self):
        self.driver, context = ctypes.CDLL(os.environ.get("TFC_CUDA_DRIVER", "libcuda.so.1")), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, function, *arguments):
        status = getattr(self.driver, function)(*arguments)
        if status:
            raise RuntimeError(f"{function} returns {status}")

    def to_device(self, array, stream=None):
        """A copy of an array on the device, by a stream or at once."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t(array.nbytes)
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(array.nbytes, 1)))
        self.call("cuMemcpyHtoDAsync_v2", address, ctypes.c_void_p(array.ctypes.data), size, stream)
        if stream is None:
            self.call("cuStreamSynchronize", None)
        return DeviceArray(address.value, array.shape, array.dtype)

    def to_host(self, array):
        """A copy of an array that `to_device` has returned, which is freed."""
        result = np.empty(array.shape, array.dtype)
        address, size = ctypes.c_uint64(array.address), ctypes.c_size_t(result.nbytes)
        self.call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(result.ctypes.data), address, size, None)
        self.call("cuStreamSynchronize", None)
        self.free(array)
        return result

    def free(self, array):
        self.call("cuMemFree_v2", ctypes.c_uint64(array.address))

    def close(self):
        self.call("cuDevicePrimaryCtxRelease_v2", 0)
