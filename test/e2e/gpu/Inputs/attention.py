"""attention.py LIBRARY CPU_LIBRARY COUNTERS TOLERANCE: compares attention and its gradients on a GPU with NumPy,
and dropout with the CPU; on the emulated one it checks which kernels write as much as scores, and waits for banks of
shared memory."""

import itertools
import os
import sys

import numpy as np
from counted import Model, call

library, cpu, counters, tolerance = sys.argv[1:]
random = np.random.default_rng(0)
WORST = float(tolerance)
numbers = itertools.count()  # of the cases


def reference(q, k, v, g=None, scale=None, bias=0.0, mask=None):
    """The result, and the gradients of sum(g * result) if there is a `g`. A mask has a value for what it excludes."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores = q @ np.swapaxes(k, -1, -2) * scale + bias
    if mask is not None:
        scores = np.where(mask[0], scores, mask[1])
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    y = p @ v
    if g is None:
        return [y]
    g = g.astype(np.float64)
    dp = g @ np.swapaxes(v, -1, -2)
    ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True))
    if mask is not None:
        ds = np.where(mask[0], ds, 0.0)
    return [y, ds @ k * scale, np.swapaxes(ds, -1, -2) @ q * scale, np.swapaxes(p, -1, -2) @ g]


def number(x):
    return (x.astype(np.uint32) << 16).view(np.float32) if x.dtype == np.uint16 else x


def check(entry, feeds, want, stores, worst=WORST, has_conflicts=False):
    """`stores` is true if a kernel writes as many bytes as there are scores."""
    if next(numbers) % 4 and WORST != 1e-5 and os.environ.get("TFC_LONG", "0") == "0":
        return
    got, kernels = call(library, counters, entry, feeds)
    for value, expected in zip(got, want, strict=True):
        value = number(np.asarray(value)).astype(np.float64)
        error = np.abs(value - expected).max() / np.abs(expected).max()
        assert error < worst, (entry, value.shape, error)
    if kernels is None:
        return
    q, k = feeds["q"], feeds["k"]
    queries = q.shape[-1] if entry == "turned" else q[..., 0].size
    bytes_of_scores = queries * k.shape[-2] * q.itemsize
    wrote = max(kernel["global_bytes_written"] for kernel in kernels if "random" not in kernel["kernel"])
    assert (wrote >= bytes_of_scores) == stores, (entry, kernels)
    # Words of tf32 go to panels as pairs, some of which wait.
    may_wait = has_conflicts or WORST == 5e-3
    assert may_wait or all(kernel["shared_conflicts"] == 0 for kernel in kernels), (entry, kernels)


def normal(*shape):
    return random.normal(size=shape).astype(np.float32)


def operands(*shape, s, d, e):
    """Queries, keys, values and a gradient; `shape` ends with the number of queries."""
    *batch, t = shape
    return normal(*batch, t, d), normal(*batch, s, d), normal(*batch, s, e), normal(*batch, t, e)


for shape, s, d in [((1, 2, 64), 256, 16), ((2, 1, 33), 310, 40)]:
    q, k, v, _ = operands(*shape, s=s, d=d, e=24)
    check("plain", dict(q=q, k=k, v=v), reference(q, k, v), stores=False)
# Without keys the result is an empty sum; without elements all keys count the same.
q, k, v, _ = operands(1, 1, 70, s=0, d=16, e=24)
got, _ = call(library, counters, "plain", dict(q=q, k=k, v=v))
assert not np.asarray(got[0]).any()
q, k, v, _ = operands(1, 1, 3, s=5, d=0, e=24)
got, _ = call(library, counters, "plain", dict(q=q, k=k, v=v))
assert np.isnan(got[0]).all()  # of a scale of 1 / 0

q, k, v, g = operands(2, 1, 140, s=190, d=40, e=24)
check("train", dict(q=q, k=k, v=v, g=g), reference(q, k, v, g), stores=False)

q, k, v, g = operands(1, 140, s=190, d=32, e=32)
check("gradient", dict(q=q, k=k, v=v, g=g), reference(q, k, v, g, scale=1.0)[1:], stores=False)

q, k, v, g = operands(1, 2, 150, s=150, d=32, e=32)
slope = 2.0 ** (-8.0 * np.arange(1, 3) / 2)
distance = np.abs(np.arange(150)[:, None] - np.arange(150))
lower = np.tril(np.ones((150, 150), bool))
want = reference(q, k, v, g, bias=-slope[:, None, None] * distance, mask=(lower, -np.inf))
# The kernels of the bias write it.
check("causal", dict(q=q, k=k, v=v, g=g), want, stores=True)

q, k, v, g = operands(2, 2, 100, s=190, d=32, e=32)
valid = np.arange(190) < np.array([[190], [7]])
want = reference(q, k, v, g, mask=(valid[:, None, None, :], -1e9))
check("padded", dict(q=q, k=k, v=v, valid=valid, g=g), want, stores=False)

q, k, v, _ = operands(2, 70, s=200, d=32, e=32)
mask = random.random(size=(70, 200)) < 0.5
mask[3, :150] = False  # whole tiles without a score
mask[5, 70:] = False
want = reference(q, k, v, scale=1.0, mask=(mask, -np.inf))
check("masked", dict(q=q, k=k, v=v, mask=mask), want, stores=False)
# A row without any has no mean.
mask[7] = False
got, _ = call(library, counters, "masked", dict(q=q, k=k, v=v, mask=mask))
assert np.array_equal(np.isnan(np.asarray(got[0])).any(axis=(0, 2)), np.arange(70) == 7)

q, k, v, g = operands(2, 90, s=190, d=32, e=32)
feeds = dict(q=0.3 * q, k=k, v=v, g=g)
check("dropped", feeds, [np.asarray(y) for y in Model(cpu, threads=1).call("dropped", **feeds)], stores=False)

q, k, v, g = operands(1, 180, s=170, d=100, e=150)
check("wide", dict(q=q, k=k, v=v, g=g), reference(q, k, v, g), stores=False)

q, k, v, _ = operands(1, 2, 90, s=190, d=32, e=32)
q, g = normal(1, 6, 90, 32), normal(1, 6, 90, 32)
valid = np.arange(190) < np.array([[150]])
bias = normal(6, 90, 190)
y, dq, dk, dv = reference(
    q, *(np.repeat(x, 3, axis=1) for x in (k, v)), g, bias=bias, mask=(valid[:, None, None, :], -1e9))
dk, dv = (x.reshape(1, 2, 3, 190, 32).sum(axis=2) for x in (dk, dv))
check("shared", dict(q=q, k=k, v=v, valid=valid, bias=bias, g=g), [y, dq, dk, dv], stores=False)
lower = np.tril(np.ones((90, 90), bool))
k, v = k[:, :, :90], v[:, :, :90]
y, dq, dk, dv = reference(q, *(np.repeat(x, 3, axis=1) for x in (k, v)), g, mask=(lower, -np.inf))
dk, dv = (x.reshape(1, 2, 3, 90, 32).sum(axis=2) for x in (dk, dv))
check("shared_causal", dict(q=q, k=k, v=v, g=g), [y, dq, dk, dv], stores=False)

q, k, v, g = operands(90, s=170, d=32, e=32)
r, u = normal(90, 16), normal(16, 170)
y, dq, dk, _ = reference(q, k, v, g, scale=1.0, bias=r.astype(np.float64) @ u)
check("turned", dict(q=np.ascontiguousarray(q.T), k=k, r=r, u=u, v=v, g=g), [y, dq.T, dk], stores=False, has_conflicts=True)
mask = random.random(size=(90, 170)) < 0.5
mask[3, :150] = False
mask[[7, 70]] = False
with np.errstate(invalid="ignore"):
    p = np.where(mask, reference(q, k, np.eye(170, dtype=np.float32), scale=1.0, mask=(mask, -np.inf))[0], 0.0)
check("dropped_rows", dict(q=q, k=k, v=v, mask=mask, g=g), [p @ v, p.T @ g], stores=False)

q, k, v, _ = operands(90, s=100, d=32, e=32)
a, b = (random.random(size=(90, 100)) < 0.8 for _ in range(2))
y, z = (reference(x, k, v, scale=1.0, mask=(a & b, -1e9))[0] for x in (q, q + 1))
check("two", dict(q=q, k=k, v=v, a=a, b=b), [y, z], stores=False)

q, k, v, _ = operands(1, 70, s=130, d=32, e=32)
p = reference(q, k, np.eye(130, dtype=np.float32)[None], scale=1.0)[0]
check("squared", dict(q=q, k=k, v=v), [p * p @ v.astype(np.float64)], stores=True)

q, k, v, g = operands(1, 120, s=200, d=32, e=32)
rounded = [(x.view(np.uint32) + 0x8000 >> 16).astype(np.uint16) for x in (0.2 * q, k)]
q, k = (number(x) for x in rounded)
feeds = dict(q=rounded[0], k=rounded[1], v=v, g=g)
check("mixed", feeds, reference(q, k, v, g, scale=1.0)[:3], stores=True, worst=2e-2)

rounded = [(x.view(np.uint32) + 0x8000 >> 16).astype(np.uint16) for x in operands(1, 2, 120, s=200, d=32, e=64)]
want = reference(*(number(x) for x in rounded))
check("half", dict(zip("qkvg", rounded)), want, stores=False, worst=2e-2)

q, k, v, _ = operands(4, 1, s=100, d=32, e=32)
check("step", dict(q=q, k=k, v=v), reference(q, k, v, scale=1.0), stores=True)

q, k, v, g = operands(1, 70, s=130, d=32, e=32)
y, _, _, _ = reference(q, k, v, g, scale=1.0)
p = reference(q, k, np.eye(130, dtype=np.float32)[None], scale=1.0)[0]
check("weights", dict(q=q, k=k, v=v), [p, y], stores=True)
bias = normal(70, 130)
y, _, dk, _ = reference(q, k, v, g, scale=1.0, bias=bias)
p = reference(q, k, np.eye(130, dtype=np.float32)[None], scale=1.0, bias=bias)[0]
dp = g.astype(np.float64) @ np.swapaxes(v, -1, -2)
db = (p * (dp - (dp * p).sum(axis=-1, keepdims=True))).sum(axis=0)
check("biased", dict(q=q, k=k, v=v, bias=bias, g=g), [y, db], stores=True)

# As many scores as are not stored though their number is known; once is enough.
q, k, v, _ = operands(1, 1040, s=1040, d=32, e=32)
if WORST == 1e-5:
    check("large", dict(q=q, k=k, v=v), reference(q, k, v, scale=1.0), stores=False)
q, k, v, _ = operands(1, 64, s=64, d=32, e=32)
check("small", dict(q=q, k=k, v=v), reference(q, k, v, scale=1.0), stores=True)
