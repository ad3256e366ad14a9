"""NumPy: the products of row_tasks.py by its BLAS, into existing arrays."""

import numpy as np
import protocol
from row_tasks import feeds_of, product_of, result_of


def make_task(task):
    a, b = (protocol.feed(task, f, np.float32, shape) for f, shape in feeds_of(task).items())
    transposed = product_of(task)[3]
    a, b = (a.T if transposed == "ta" else a), (b.T if transposed == "tb" else b)
    out = np.empty(result_of(task)[0], np.float32)

    def call():
        return np.matmul(a, b, out=out)

    return call, protocol.magnitude(call())


protocol.serve("numpy", f"{np.__version__}, {protocol.blas()}", make_task)
