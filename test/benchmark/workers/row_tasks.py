"""The tasks of `kernels`: matrix products, and elementwise and row kernels on rows of several sizes.

A product is called matmul_M_K_N, with `_ta` or `_tb` behind that if the factor is fed transposed. Other tasks are called
KERNEL_ROWS_COLUMNS. torch_rows.py, numpy_rows.py and rows.c have the same for the peers.
"""

SIZES = [  # M, K, N
    *((n, n, n) for n in (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096)),
    *((n, n, n) for n in (65, 100, 127, 200, 333, 500, 777, 1000, 1023)),
    *((197, 770, 777), (128, 768, 3072), (128, 3072, 768), (384, 768, 768), (20, 512, 2048), (8, 1024, 4096)),
    *((1, 1024, 1024), (1, 4096, 4096), (1000, 64, 1000), (64, 4096, 64), (4096, 64, 64), (64, 64, 4096)),
]
TRANSPOSED = [(n, n, n) for n in (64, 128, 200, 512, 777, 1024, 2048)]

# Kernel -> its expression, the feeds besides x, of a row's size, and the kind and element type of the result.
KERNELS = {
    "exp": ("exp(x)", "", "all"),
    "tanh": ("tanh(x)", "", "all"),
    "silu": ("silu(x)", "", "all"),
    "gelu": ("gelu(x)", "", "all"),
    "gelu_tanh": ("gelu(x, approximate: true)", "", "all"),
    "bias_gelu": ("gelu(x + scale)", "scale", "all"),
    "softmax": ("softmax(x, axis: -1)", "", "all"),
    "layer_norm": ("centred * rsqrt(variance + 1e-5) * scale + shift", "scale shift", "all"),
    "rms_norm": ("x * rsqrt(mean(square(x), axis: -1, keep_dims: true) + 1e-5) * scale", "scale", "all"),
    "sum_rows": ("sum(x, axis: 1)", "", "rows"),
    "sum_columns": ("sum(x, axis: 0)", "", "columns"),
    "max_rows": ("max(x, axis: 1)", "", "rows"),
    "max_columns": ("max(x, axis: 0)", "", "columns"),
    "argmax_rows": ("argmax(x, axis: 1)", "", "rows i32"),
    "argmax_columns": ("argmax(x, axis: 0)", "", "columns i32"),
    "transpose": ("transpose(x, [1, 0])", "", "transposed"),
    "to_i32": ("cast(x, i32)", "", "all i32"),
    "add_relu": ("relu(x + y)", "y", "all"),
}
# Sizes whose feed and result fit into the first, second and third cache of most processors, and into none.
ROWS = {"L1": (12, 256), "L2": (128, 768), "L3": (1024, 1024), "memory": (4096, 4096)}


def matmul_tasks():
    plain = [f"matmul_{m}_{k}_{n}" for m, k, n in SIZES]
    return plain + [f"matmul_{m}_{k}_{n}_{t}" for m, k, n in TRANSPOSED for t in ("ta", "tb")]


def row_tasks():
    return [f"{kernel}_{rows}_{columns}" for kernel in KERNELS for rows, columns in ROWS.values()]


def product_of(task):
    """M, K, N and the transposed factor, "ta", "tb" or ""."""
    _, m, k, n, *transposed = task.split("_")
    return int(m), int(k), int(n), transposed[0] if transposed else ""


def kernel_of(task):
    """The kernel, its rows and columns."""
    kernel, rows, columns = task.rsplit("_", 2)
    return kernel, int(rows), int(columns)


def feeds_of(task):
    """Feed -> shape."""
    if task.startswith("matmul_"):
        m, k, n, transposed = product_of(task)
        return {"a": (k, m) if transposed == "ta" else (m, k), "b": (n, k) if transposed == "tb" else (k, n)}
    kernel, rows, columns = kernel_of(task)
    others = {name: (rows, columns) if name == "y" else (columns,) for name in KERNELS[kernel][1].split()}
    return {"x": (rows, columns), **others}


def result_of(task):
    """The shape and the element type."""
    if task.startswith("matmul_"):
        m, _, n, _ = product_of(task)
        return (m, n), "f32"
    kernel, rows, columns = kernel_of(task)
    shape, dtype = [*KERNELS[kernel][2].split(), "f32"][:2]
    shapes = {"all": (rows, columns), "rows": (rows,), "columns": (columns,), "transposed": (columns, rows)}
    return shapes[shape], dtype


def count(shape):
    elements = 1
    for size in shape:
        elements *= size
    return elements


def flops_of(task):
    m, k, n, _ = product_of(task)
    return 2 * m * k * n


def bytes_of(task):
    """Returns the bytes of the feeds and the result."""
    return 4 * (sum(map(count, feeds_of(task).values())) + count(result_of(task)[0]))


def entry(task):
    """The task as an entry of a graph."""
    body = []
    if task.startswith("matmul_"):
        transposed = product_of(task)[3]
        a, b = (f"transpose({f}, [1, 0])" if transposed == f"t{f}" else f for f in "ab")
        expression = f"matmul({a}, {b})"
    else:
        kernel = kernel_of(task)[0]
        expression = KERNELS[kernel][0]
        if kernel == "layer_norm":
            body = [
                "centred = x - mean(x, axis: -1, keep_dims: true)",
                "variance = mean(square(centred), axis: -1, keep_dims: true)",
            ]
    feeds = ", ".join(f"{name}: f32{list(shape)}" for name, shape in feeds_of(task).items())
    shape, dtype = result_of(task)
    lines = [*body, f"return {expression}"]
    return "\n  ".join([f"entry {task}({feeds}) -> (out: {dtype}{list(shape)}) {{", *lines]) + "\n}\n"


def graph(tasks):
    return "\n".join(["graph kernels\n", *map(entry, tasks)])
