"""torch: the tasks of row_tasks.py in eager mode, into existing tensors; products by its default, by oneDNN with `--onednn`."""

import sys

import numpy as np
import protocol
import torch
import torch.nn.functional as F
from row_tasks import feeds_of, kernel_of, product_of, result_of

torch.set_num_threads(1)
torch.set_grad_enabled(False)
DTYPES = {"f32": torch.float32, "i32": torch.int32}


def _layer_norm(x, scale, shift, out):
    aten = torch.ops.aten.native_layer_norm
    mean, deviation = (torch.empty(len(x), 1) for _ in range(2))
    return lambda: aten.out(x, [x.shape[1]], scale, shift, 1e-5, out0=out, out1=mean, out2=deviation)[0]


def _arg(x, axis, out):
    places = torch.empty(out.shape, dtype=torch.int64)  # the type that torch has for them
    return lambda: torch.argmax(x, axis, out=places)


def _add_relu(x, y, out):
    return lambda: F.relu_(torch.add(x, y, out=out))


nn = torch._C._nn  # the functions with results in existing tensors
CALLS = {
    "exp": lambda x, out: lambda: torch.exp(x, out=out),
    "tanh": lambda x, out: lambda: torch.tanh(x, out=out),
    "silu": lambda x, out: lambda: nn.silu(x, out=out),
    "gelu": lambda x, out: lambda: nn.gelu(x, out=out),
    "gelu_tanh": lambda x, out: lambda: nn.gelu(x, approximate="tanh", out=out),
    "bias_gelu": lambda x, scale, out: lambda: nn.gelu(torch.add(x, scale, out=out), out=out),
    "softmax": lambda x, out: lambda: torch.softmax(x, -1, out=out),
    "layer_norm": _layer_norm,
    "rms_norm": lambda x, scale, out: lambda: F.rms_norm(x, (x.shape[1],), scale, 1e-5),
    "sum_rows": lambda x, out: lambda: torch.sum(x, 1, out=out),
    "sum_columns": lambda x, out: lambda: torch.sum(x, 0, out=out),
    "max_rows": lambda x, out: lambda: torch.amax(x, 1, out=out),
    "max_columns": lambda x, out: lambda: torch.amax(x, 0, out=out),
    "argmax_rows": lambda x, out: _arg(x, 1, out),
    "argmax_columns": lambda x, out: _arg(x, 0, out),
    "transpose": lambda x, out: lambda: out.copy_(x.t()),
    "to_i32": lambda x, out: lambda: out.copy_(x),
    "add_relu": _add_relu,
}


def product(task, a, b, out):
    transposed = product_of(task)[3]
    a, b = (a.t() if transposed == "ta" else a), (b.t() if transposed == "tb" else b)
    if "--onednn" in sys.argv:
        return lambda: torch.ops.mkldnn._linear_pointwise(a, b.t(), None, "none", [], "")
    return lambda: torch.mm(a, b, out=out)


def make_task(task):
    feeds = [torch.from_numpy(protocol.feed(task, f, np.float32, shape)) for f, shape in feeds_of(task).items()]
    shape, dtype = result_of(task)
    out = torch.zeros(shape, dtype=DTYPES[dtype])
    call = product(task, *feeds, out) if task.startswith("matmul_") else CALLS[kernel_of(task)[0]](*feeds, out)
    return call, protocol.magnitude(call())


protocol.serve("oneDNN" if "--onednn" in sys.argv else "torch", torch.__version__, make_task)
