"""An instance in each process of an MPI job."""

import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from model import Failed, Model


class _Transport(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("task", ctypes.c_int32), ("task_count", ctypes.c_int32)]


def read_own(model):
    """The variables that are in this process."""
    values = {}
    for name in model.variables:
        try:
            values[name] = model[name]
        except Failed as error:
            assert error.status == "no device" and "is in another process, /job:" in str(error), error
    return values


class Job:
    """Opens a transport of libtfcmpi, whose path is `library`. `task` is the number of this process."""

    def __init__(self, library):
        self._mpi = ctypes.CDLL(library)
        self._mpi.tfc_mpi_message.restype = ctypes.c_char_p
        self._mpi.tfc_mpi_close.restype = None
        self._transport = ctypes.POINTER(_Transport)()
        if self._mpi.tfc_mpi_open(ctypes.byref(self._transport)):
            raise RuntimeError(self._mpi.tfc_mpi_message().decode())
        self.task, self.count = self._transport.contents.task, self._transport.contents.task_count

    def create(self, path, **options):
        transport = ctypes.cast(self._transport, ctypes.c_void_p)
        return Model(path, threads=1, transport=transport, **options)

    def close(self):
        self._mpi.tfc_mpi_close(self._transport)
