"""precision.py PRECISION LIBRARY COUNTERS: products on the emulated GPU, compared with sums in f64 of factors that NumPy
has rounded, and what the kernels executed."""

import math
import sys

import numpy as np
from counted import call

precision, library, counters = sys.argv[1:]

TILE, LARGE_TILE = 64, 128
DEPTH, HALF_DEPTH = 16, 32


def drop_bits(x, count, ties_to_even):
    """Rounds f32 to the nearest number without the last bits."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    half = (1 << (count - 1)) - 1 + (bits >> count & 1) if ties_to_even else 1 << (count - 1)
    return ((bits + half) >> count << count).astype(np.uint32).view(np.float32)


ROUND = {
    "f32": lambda x: x,
    "tf32": lambda x: drop_bits(x, 13, ties_to_even=False),
    "bf16": lambda x: drop_bits(x, 16, ties_to_even=True),
}


def check(entry, x, w, factors, tensor):
    """Compares the product with that of factors of a type; `tensor`: tensor instructions do all of it."""
    tile = LARGE_TILE if "large" in entry else TILE
    transposed = "transposed" in entry
    feeds = dict(x=x.swapaxes(-1, -2), w=w.swapaxes(-1, -2)) if transposed else dict(x=x, w=w)
    feeds = {name: np.ascontiguousarray(value) for name, value in feeds.items()}
    (got,), kernels = call(library, counters, entry, feeds)
    half_ulp = {np.float16: 2.0**-11, np.uint16: 2.0**-8}.get(w.dtype.type, 0)
    if w.dtype == np.uint16:  # bf16
        x, w, got = ((value.astype(np.uint32) << 16).view(np.float32) for value in (x, w, got))
    a, b = (ROUND[factors](np.asarray(value, np.float32)).astype(np.float64) for value in (x, w))
    terms = np.abs(a) @ np.abs(b)
    error = np.abs(got - a @ b)
    assert (error <= half_ulp * np.abs(a @ b) + 2e-6 * terms).all(), (entry, (error / terms).max())
    if factors != "f32":
        exact = np.asarray(x, np.float64) @ np.asarray(w, np.float64)
        assert np.abs(exact - a @ b).max() > 1e-5  # the bound tells them apart
    product = next(kernel for kernel in kernels if "matmul" in kernel["kernel"])
    *batch, m, k, n = *a.shape, b.shape[-1]
    depth = HALF_DEPTH if half_ulp or factors == "bf16" else DEPTH
    blocks = math.prod(batch) * -(-m // tile) * -(-n // tile) * -(-k // depth)
    want = blocks * tile * tile * depth if tensor else 0
    assert product["tensor_multiply_adds"] == want, (entry, product, want)
    assert product["shared_requests"] > 0 and product["shared_conflicts"] == 0, (entry, product)
    assert product["local_instructions"] == 0, (entry, product)


def main():
    random = np.random.default_rng(0)
    x, w = (random.normal(size=size).astype(np.float32) for size in ((130, 70), (70, 67)))
    is_exact = precision == "f32"
    check("single", x, w, precision, not is_exact)
    check("transposed", x, w, precision, not is_exact)
    x, w = (random.normal(size=size).astype(np.float32) for size in ((90, 300), (300, 67)))
    check("long", x, w, precision, not is_exact)
    check("long_transposed", x, w, precision, not is_exact)
    x, w = (random.normal(size=size).astype(np.float32) for size in ((40, 70), (70, 65)))
    check("half", x.astype(np.float16), w.astype(np.float16), "f32", True)
    check("brain", *((value.view(np.uint32) >> 16).astype(np.uint16) for value in (x, w)), "f32", True)
    # As large as tiles, and neither their multiples nor of whole pieces.
    for end, size in ("", (64, 128, 40, 128)), ("_odd", (16, 250, 33, 133)):
        x, w = random.normal(size=size[:3]).astype(np.float32), random.normal(size=(size[0], *size[2:])).astype(np.float32)
        for kind in "large", "large_transposed":
            check(f"{kind}{end}", x, w, precision, not is_exact)
            check(f"{kind}_half{end}", x.astype(np.float16), w.astype(np.float16), "f32", True)


main()
