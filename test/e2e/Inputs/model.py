"""A compiled model for NumPy, through the generic C API of runtime/tfc.h.

    model = Model("libdigits.so")
    loss, = model.train(x=pixels, label=labels)     # or model.call("train", x=..., label=...)
    model["w1"] = array; print(model["w1"]); model.save(path); model.load(path)

A status other than TFC_OK raises `Failed` with the model's message.
"""

import ctypes
import os

import numpy as np

# In the order of tfc_dtype; bf16 has no NumPy type and travels as its bits. Arrays without a known dtype of uint16
# count as bf16.
DTYPES = [
    np.float32,
    np.float64,
    np.float16,
    np.uint16,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.bool_,
    np.uint16,
    np.uint32,
    np.uint64,
]
ABI_VERSION = 1

_text, _int32, _int64, _pointer = ctypes.c_char_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p
_sizes = ctypes.POINTER(_int64)


class _Tensor(ctypes.Structure):
    _fields_ = [("dtype", _int32), ("rank", _int32), ("dims", _sizes), ("data", _pointer)]


class _Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("threads", _int32),
        ("allocate", _pointer),
        ("release", _pointer),
        ("allocator_context", _pointer),
        ("parallel_for", _pointer),
        ("parallel_context", _pointer),
        ("devices", _pointer),
        ("device_count", _int64),
        ("gpu_streams", ctypes.POINTER(_pointer)),
        ("gpu_stream_count", _int64),
        ("transport", _pointer),
        ("task_timeout_ms", _int64),
        ("call_mode", _int32),
        ("reader_threads", _int32),
    ]


class _Value(ctypes.Structure):
    _fields_ = [
        ("name", _text),
        ("type", _text),
        ("dtype", _int32),
        ("rank", _int32),
        ("dims", _sizes),
    ]


class _Entry(ctypes.Structure):
    _fields_ = [
        ("name", _text),
        ("feed_count", _int32),
        ("fetch_count", _int32),
        ("symbol_count", _int32),
        ("writes", _int32),
    ]


def _function(*arguments, result=_int32):
    return ctypes.CFUNCTYPE(result, *arguments)


_tensors = ctypes.POINTER(_Tensor)
_value_at = _function(_pointer, _int32, _int32, ctypes.POINTER(_Value))


class _Api(ctypes.Structure):
    _fields_ = [
        ("abi_version", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("status_name", _function(_int32, result=_text)),
        ("entry", _function(_pointer, _int32, ctypes.POINTER(_Entry))),
        ("feed", _value_at),
        ("fetch", _value_at),
        ("symbol", _pointer),
        ("variable", _function(_pointer, _int32, ctypes.POINTER(_Value))),
        ("shapes", _pointer),
        ("create", _function(_pointer, ctypes.POINTER(_Options), ctypes.POINTER(_pointer))),
        ("fork", _function(_pointer, ctypes.POINTER(_pointer))),
        ("destroy", _function(_pointer, result=None)),
        ("message", _function(_pointer, result=_text)),
        ("call", _function(_pointer, _text, _tensors, _int32, _tensors, _int32)),
        ("infer", _function(_pointer, _text, _tensors, _int32, _tensors, _int32)),
        ("get", _function(_pointer, _text, _tensors)),
        ("set", _function(_pointer, _text, _tensors)),
        ("save", _function(_pointer, _text)),
        ("load", _function(_pointer, _text)),
        ("queue", _pointer),
        ("component", _pointer),
        ("queue_size", _pointer),
        ("queue_close", _pointer),
        ("cancel", _function(_pointer, result=None)),
        ("found", _function(_pointer, _tensors, _int32)),
        ("fact", _pointer),
        ("site", _pointer),
        ("device", _pointer),
        ("serve", _function(_pointer)),
        ("open_dataset", _function(_pointer, _text, ctypes.POINTER(_text), _int64)),
    ]


class _Library(ctypes.Structure):
    _fields_ = [("api", ctypes.POINTER(_Api)), ("model", _pointer)]


class Failed(Exception):
    """A status other than TFC_OK: `status` is its name, the text the instance's message."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class DeviceArray:
    """A feed or a fetch in memory of a device."""

    def __init__(self, address, shape, dtype):
        self.address, self.shape, self.dtype = address, shape, np.dtype(dtype)


def _tensor(array, dtype=None):
    """The C view of a C-contiguous array, as a tfc_dtype or that of its elements."""
    if dtype is None:
        dtype = next(i for i, known in enumerate(DTYPES) if np.dtype(known) == array.dtype)
    dims = (_int64 * len(array.shape))(*array.shape)
    data = array.address if isinstance(array, DeviceArray) else array.ctypes.data
    tensor = _Tensor(dtype, len(array.shape), ctypes.cast(dims, _sizes), data)
    tensor.array = array  # lives as long as its view
    return tensor


def _tensor_list(arrays, dtypes=None):
    tensors = [_tensor(a, d) for a, d in zip(arrays, dtypes or [None] * len(arrays))]
    result = (_Tensor * max(len(arrays), 1))(*tensors)
    result.tensors = tensors
    return result


class Model:
    """One instance. Feeds are converted to the dtypes of the entry; integers that do not fit are refused. That of a
    library for another processor runs in an emulator."""

    def __new__(cls, path, *args, **options):
        import emulated  # which needs this module

        return object.__new__(emulated.EmulatedModel if emulated.is_foreign(path) else cls)

    def __init__(self, path, threads=0, gpu_streams=(), transport=None, task_timeout_ms=0, alone=False,
                 reader_threads=0):
        library = ctypes.CDLL(os.path.abspath(path))
        library.tfc_library_get.restype = ctypes.POINTER(_Library)
        found = library.tfc_library_get().contents
        self._api, self._model, self._instance = found.api.contents, found.model, _pointer()
        if self._api.abi_version != ABI_VERSION or self._api.size < ctypes.sizeof(_Api):
            raise RuntimeError(f"{path}: ABI {self._api.abi_version}, {self._api.size} bytes")
        options = _Options(size=ctypes.sizeof(_Options), threads=threads)
        options.transport, options.task_timeout_ms = transport, task_timeout_ms
        options.call_mode = int(alone)  # tfc_call_mode
        options.reader_threads = reader_threads
        if gpu_streams:
            options.gpu_streams = (_pointer * len(gpu_streams))(*gpu_streams)
            options.gpu_stream_count = len(gpu_streams)
        self._check(self._api.create(self._model, options, ctypes.byref(self._instance)))
        self.entries, self._feed_dtypes = {}, {}
        for index, entry in enumerate(self._all(_Entry, self._api.entry)):
            feeds = [self._value(self._api.feed, index, i) for i in range(entry.feed_count)]
            fetches = [self._value(self._api.fetch, index, i) for i in range(entry.fetch_count)]
            self.entries[entry.name.decode()] = feeds, fetches
            self._feed_dtypes[entry.name.decode()] = [
                self._dtype(index, i) for i in range(entry.feed_count)
            ]
        self.variables, self._variable_dtypes = {}, {}
        for v in self._all(_Value, self._api.variable):
            self.variables[v.name.decode()] = DTYPES[v.dtype], tuple(v.dims[: v.rank])
            self._variable_dtypes[v.name.decode()] = v.dtype

    def fork(self):
        """Another handle of the same variables and queues, for another thread."""
        handle = object.__new__(Model)
        handle.__dict__.update(self.__dict__, _instance=_pointer())
        self._check(self._api.fork(self._instance, ctypes.byref(handle._instance)))
        return handle

    def __del__(self):
        if getattr(self, "_instance", None):
            self._api.destroy(self._instance)

    def __getattr__(self, name):
        if name in self.__dict__.get("entries", ()):
            return lambda **feeds: self.call(name, **feeds)
        raise AttributeError(name)

    def call(self, entry, **feeds):
        """Runs an entry and returns its fetches in order."""
        names, fetches = self.entries[entry]
        if set(feeds) != {name for name, _ in names}:
            raise TypeError(f"{entry} takes {[name for name, _ in names]}, but got {sorted(feeds)}")
        arrays = [self._as(feeds[name], dtype) for name, dtype in names]
        return self.call_raw(entry, arrays, len(fetches), self._feed_dtypes[entry])

    def call_raw(self, entry, arrays, fetch_count, dtypes=None, missing=()):
        """As `call`, with arrays taken as they are: for calls that should fail. Of the `missing` only shapes are passed."""
        inputs, outputs = _tensor_list(arrays, dtypes), (_Tensor * max(fetch_count, 1))()
        for number in missing:
            inputs[number].data = None
        key = entry.encode()
        self._check(self._api.infer(self._instance, key, inputs, len(arrays), outputs, fetch_count))
        results = [np.empty(t.dims[: t.rank], DTYPES[t.dtype]) for t in outputs[:fetch_count]]
        self._check(
            self._api.call(
                self._instance, key, inputs, len(arrays),
                _tensor_list(results, [t.dtype for t in outputs[:fetch_count]]), fetch_count,
            )
        )
        # Data-dependent sizes are known now.
        self._check(self._api.found(self._instance, outputs, fetch_count))
        shapes = [tuple(t.dims[: t.rank]) for t in outputs[:fetch_count]]
        return [r.ravel()[: int(np.prod(s))].reshape(s) for r, s in zip(results, shapes)]

    def call_into(self, entry, feeds, fetches):
        """Runs an entry with feeds and fetches that are taken as they are, also from a device."""
        self._check(
            self._api.call(self._instance, entry.encode(), _tensor_list(feeds), len(feeds),
                           _tensor_list(fetches), len(fetches))
        )

    def feed_types(self, entry):
        """[(dtype, type in the language)] of the feeds of an entry."""
        index, value, types = list(self.entries).index(entry), _Value(), []
        for place in range(len(self.entries[entry][0])):
            self._check(self._api.feed(self._model, index, place, ctypes.byref(value)))
            types.append((DTYPES[value.dtype], value.type.decode()))
        return types

    def __getitem__(self, variable):
        dtype, shape = self.variables[variable]
        array = np.empty(shape, dtype)
        tensor = _tensor(array, self._variable_dtypes[variable])
        self._check(self._api.get(self._instance, variable.encode(), tensor))
        return array

    def __setitem__(self, variable, value):
        dtype, _ = self.variables[variable]
        tensor = _tensor(self._as(value, dtype), self._variable_dtypes[variable])
        self._check(self._api.set(self._instance, variable.encode(), tensor))

    def save(self, path):
        self._check(self._api.save(self._instance, os.fsencode(path)))

    def cancel(self):
        self._api.cancel(self._instance)

    def serve(self):
        self._check(self._api.serve(self._instance))

    def open_dataset(self, name, paths):
        texts = (_text * len(paths))(*map(os.fsencode, paths))
        self._check(self._api.open_dataset(self._instance, name.encode(), texts, len(paths)))

    def load(self, path):
        self._check(self._api.load(self._instance, os.fsencode(path)))

    def _check(self, status):
        if status:
            name = self._api.status_name(status).decode()
            raise Failed(name, self._api.message(self._instance).decode())

    def _all(self, kind, read):
        index, item = 0, kind()
        while read(self._model, index, ctypes.byref(item)) == 0:
            yield item
            index, item = index + 1, kind()

    def _value(self, read, entry, index):
        value = _Value()
        self._check(read(self._model, entry, index, ctypes.byref(value)))
        return value.name.decode(), DTYPES[value.dtype]

    def _dtype(self, entry, index):
        value = _Value()
        self._check(self._api.feed(self._model, entry, index, ctypes.byref(value)))
        return value.dtype

    @staticmethod
    def _as(value, dtype):
        array = np.asarray(value)
        converted = np.array(array, dtype=dtype, order="C")
        if array.dtype.kind != "f" and not np.array_equal(array, converted):
            raise TypeError(f"{array.dtype} values do not fit into {np.dtype(dtype)}")
        return converted
