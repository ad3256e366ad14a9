import numpy as np
from harness import case, positive, real, whole


def index(limit, *shape):
    return whole(*shape, low=0, high=limit, dtype="i32")


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True, initial=-1e30))
    return e / e.sum(axis, keepdims=True)


def norm(x, axis=None, keep=True):
    return np.sqrt((x * x).sum(axis, keepdims=keep))


def within(x, bound, axis=None):
    return x * np.minimum(1, bound / np.maximum(norm(x, axis), 1e-30)).astype(x.dtype)


def segments(x, i, count, rank=1):
    y = np.zeros((count, *x.shape[rank:]), x.dtype)
    np.add.at(y, i, x)
    return y


def segment_means(x, i, count):
    number = np.bincount(i, minlength=count).reshape(-1, *[1] * (x.ndim - 1))
    return (segments(x, i, count) / np.maximum(number, 1)).astype(x.dtype)


def skipping(x, i, count):
    inside = (i >= 0) & (i < count)
    return segments(x[inside], i[inside], count)


def set_diagonal(x, d, offset=0):
    rows, columns = (np.arange(s) for s in x.shape[-2:])
    hit = columns - rows[:, None] == offset
    y = x.copy()
    y[..., hit] = d
    return y


def diagonal(d, offset=0):
    size = d.shape[-1] + abs(offset)
    return set_diagonal(np.zeros((*d.shape[:-1], size, size), d.dtype), d, offset)


def band(x, lower, upper):
    rows, columns = (np.arange(s) for s in x.shape[-2:])
    below = rows[:, None] - columns
    return np.where((below <= (lower if lower >= 0 else 99)) & (-below <= (upper if upper >= 0 else 99)), x, 0)


def to_depth(x, p, order="dcr", first=False):
    if first:
        b, c, h, w = x.shape
        y = x.reshape(b, c, h // p, p, w // p, p)
        y = y.transpose((0, 3, 5, 1, 2, 4) if order == "dcr" else (0, 1, 3, 5, 2, 4))
        return y.reshape(b, c * p * p, h // p, w // p)
    b, h, w, c = x.shape
    y = x.reshape(b, h // p, p, w // p, p, c)
    return y.transpose((0, 1, 3, 2, 4, 5) if order == "dcr" else (0, 1, 3, 5, 2, 4)).reshape(b, h // p, w // p, c * p * p)


def to_space(x, p, order="dcr", first=False):
    if first:
        b, c, h, w = x.shape
        parts = (p, p, c // p // p) if order == "dcr" else (c // p // p, p, p)
        y = x.reshape(b, *parts, h, w)
        y = y.transpose((0, 3, 4, 1, 5, 2) if order == "dcr" else (0, 1, 4, 2, 5, 3))
        return y.reshape(b, c // p // p, h * p, w * p)
    b, h, w, c = x.shape
    parts = (p, p, c // p // p) if order == "dcr" else (c // p // p, p, p)
    y = x.reshape(b, h, w, *parts)
    y = y.transpose((0, 1, 3, 2, 4, 5) if order == "dcr" else (0, 1, 4, 2, 5, 3))
    return y.reshape(b, h * p, w * p, c // p // p)


def to_batch(x, p, q, low, high):
    y = np.pad(x, [(0, 0), (low[0], high[0]), (low[1], high[1]), (0, 0)])
    b, h, w, c = y.shape
    return y.reshape(b, h // p, p, w // q, q, c).transpose(2, 4, 0, 1, 3, 5).reshape(p * q * b, h // p, w // q, c)


def from_batch(x, p, q, low, high):
    b, h, w, c = x.shape
    y = x.reshape(p, q, b // (p * q), h, w, c).transpose(2, 3, 0, 4, 1, 5).reshape(b // (p * q), h * p, w * q, c)
    return y[:, low[0]: h * p - high[0], low[1]: w * q - high[1]]


def bins(x, count, low, high):
    return np.histogram(x, count, (low, high))[0].astype(np.int32)


def skipping_rows(x, i):
    inside = (i >= 0) & (i < x.shape[1])
    return np.take_along_axis(x, np.where(inside, i, 0)[..., None], 1) * inside[..., None]


PADS = {"edge": "edge", "reflect": "reflect", "symmetric": "symmetric", "wrap": "wrap"}
CASES = [
    case("x + i64((2 - n) % 3) + i64(10 * ((0 - n) // 3))", lambda x: x + (2 - len(x)) % 3 + 10 * (-len(x) // 3),
         types="i64", x=whole("n")),
    case("x + i64(n // (n - 1)) + i64(100 % (n - 1))",
         lambda x: x + (0 if len(x) == 1 else len(x) // (len(x) - 1) + 100 % (len(x) - 1)), types="i64", x=whole("n")),
    case("zeros_like(x) + 2 * ones_like(x) + full_like(x, 0.5)", lambda x: np.full_like(x, 2.5), types="f64 f32 f16",
         x=real("n", 4), gradient=False),
    case("ones_like(x) + full_like(x, 3)", lambda x: np.full_like(x, 4), types="i32", x=whole("n")),
    case("cholesky(matmul(x, transpose(x, [0, 2, 1])) + 2.0 * diag(ones({T}[3])))",
         lambda x: np.linalg.cholesky(x @ x.swapaxes(1, 2) + 2 * np.eye(3, dtype=x.dtype)), x=real("n", 3, 3),
         second=True),
    case("cholesky(x)", lambda x: np.sqrt(x), x=positive(1, 1)),
    case("triangular_solve(x + 3.0 * diag(ones({T}[3])), y)",
         lambda x, y: np.linalg.solve(np.tril(x) + 3 * np.eye(3, dtype=x.dtype), y), x=positive("n", 3, 3),
         y=real("n", 3, 2), second=True),
    case("triangular_solve(x + 3.0 * diag(ones({T}[3])), y, lower: false)",
         lambda x, y: np.linalg.solve(np.triu(x) + 3 * np.eye(3, dtype=x.dtype), y), x=positive("n", 3, 3),
         y=real("n", 3, 2)),
    case("variance(x, axis: 1)", lambda x: x.var(1), x=real("n", 4), second=True),
    case("variance(x, axis: [-1, 0], keep_dims: true)", lambda x: x.var((0, 2), keepdims=True), x=real(3, "n", 2)),
    case("variance(x)", lambda x: x.var(), x=real("n", 3), sizes=(1, 5), second=True),
    case("moments(x, axis: [0, -1])", lambda x: (x.mean((0, 2)), x.var((0, 2))), x=real(3, "n", 2), second=True),
    case("moments(x, keep: 0)", lambda x: (x.mean((1, 2)), x.var((1, 2))), x=real("n", 3, 2)),
    case("moments(x, axis: 1, keep_dims: true)", lambda x: (x.mean(1, keepdims=True), x.var(1, keepdims=True)),
         x=real("n", 3)),
    case("norm(x, axis: -1)", lambda x: norm(x, -1, False), x=real("n", 3), second=True),
    case("norm(x)", lambda x: norm(x, None, False).astype(x.dtype), x=real("n", 3), sizes=(1, 5)),
    case("l2_normalize(x)", lambda x: x / norm(x, -1), x=real("n", 3), second=True),
    case("l2_normalize(x, axis: [0, 1])", lambda x: x / norm(x), x=real("n", 3), second=True, sizes=(1, 5)),
    case("l2_normalize(x * 0.0)", lambda x: x * 0, x=real("n", 3)),
    case("clip_by_norm(x, 1.5)", lambda x: within(x, 1.5), x=real("n", 3), second=True),
    case("clip_by_norm(x, 1.5, axis: -1)", lambda x: within(x, 1.5, -1), x=real("n", 3), second=True),
    case("clip_by_norm(x * 0.0, 1.5)", lambda x: x * 0, x=real("n", 3)),
    case("softmax_over(x, axis: [0, 2])", lambda x: softmax(x, (0, 2)), x=real(2, "n", 3), second=True),
    case("softmax_over(x)", lambda x: softmax(x, (0, 1)), x=real("n", 3), second=True),
    case("log_softmax_over(x, axis: [-1, 1])", lambda x: np.log(softmax(x, (1, 2))), x=real("n", 2, 3), second=True),
    case("bincount(i, 4)", lambda i: np.bincount(i, minlength=4)[:4].astype(np.int32), types="i32 i64",
         i=whole("n", low=0, high=6)),
    case("bincount(i, 3, weights: w)", lambda i, w: segments(w, i, 3, 2), i=index(3, "n", 2), w=real("n", 2),
         second=True),
    case("histogram(x, 5, low: -1.0, high: 1.0)", lambda x: bins(x, 5, -1, 1), x=real("n", 40), gradient=False),
    case("segment_sum(x, i, 4)", lambda x, i: segments(x, i, 4), types="f64 f32 i32", x=real("n", 2),
         i=index(4, "n"), second=True),
    case("segment_sum(x, i, 3)", lambda x, i: segments(x, i, 3, 2), x=real("n", 2, 2), i=index(3, "n", 2)),
    case('segment_sum(x, i, 3, outside: "skip")', lambda x, i: skipping(x, i, 3), x=real("n", 2),
         i=whole("n", low=-2, high=6, dtype="i64")),
    case("batch_gather(x, i)", lambda x, i: np.take_along_axis(x, i[..., None], 1), types="f64 f32 i32",
         x=real("n", 4, 2), i=index(4, "n", 3), second=True),
    case("batch_gather(x, i, batch: 2)", lambda x, i: np.take_along_axis(x, i[..., None], 2)[..., 0],
         x=real(2, "n", 4), i=index(4, 2, "n")),
    case("batch_gather(x, i, batch: 0)", lambda x, i: x[i], x=real(4, 2), i=index(4, "n", 2)),
    case('batch_gather(x, i, outside: "skip")', skipping_rows, x=real("n", 4, 2),
         i=whole("n", 3, low=-2, high=6, dtype="i64")),
    case("segment_mean(x, i, 4)", lambda x, i: segment_means(x, i, 4), x=real("n", 2), i=index(4, "n"), second=True),
    case("diag_part(x)", lambda x: np.diagonal(x, 0, 1, 2).copy(), x=real("n", 3, 3), second=True),
    case("diag_part(x, offset: 1)", lambda x: np.diagonal(x, 1, 1, 2).copy(), x=real("n", 3, 4)),
    case("diag_part(x, offset: -2)", lambda x: np.diagonal(x, -2).copy(), x=real(5, 3)),
    case("diag_part(x, offset: 3)", lambda x: np.diagonal(x, 3).copy(), x=real(2, 3)),
    case("trace(x)", lambda x: np.trace(x, 0, 1, 2), x=real("n", 3, 4), second=True),
    case("trace(x, offset: -1)", lambda x: np.trace(x, -1), x=real(4, 3)),
    case("diag(d)", diagonal, d=real("n", 3), second=True),
    case("diag(d)", diagonal, d=real("n")),
    case("diag(d, offset: 2)", lambda d: diagonal(d, 2), d=real(2, 3)),
    case("diag(d, offset: -1)", lambda d: diagonal(d, -1), d=real("n")),
    case("set_diag(x, d)", set_diagonal, x=real("n", 3, 4), d=real("n", 3), second=True),
    case("set_diag(x, d, offset: -1)", lambda x, d: set_diagonal(x, d, -1), x=real(4, 3), d=real(3)),
    case("set_diag(x, d, offset: 1)", lambda x, d: set_diagonal(x, d, 1), x=real(2, 2, 5), d=real(2, 2)),
    case("band_part(x, 1, 0)", lambda x: band(x, 1, 0), x=real("n", 4, 3), second=True),
    case("band_part(x, -1, 1)", lambda x: band(x, -1, 1), x=real(3, "n")),
    case("x * tri({T}[4, n], diagonal: -1)", lambda x: np.tril(x, -1), x=real(4, "n")),
    case("outer(x, y)", np.outer, x=real("n"), y=real(3), second=True),
    case("cross(x, y)", np.cross, x=real("n", 3), y=real("n", 3), second=True),
    case("roll(x, 2)", lambda x: np.roll(x, 2, 0), x=real("n", 3), second=True),
    case("roll(x, -1, axis: -1)", lambda x: np.roll(x, -1, -1), types="f64 i32", x=real(2, "n")),
    case("roll(x, 7, axis: 1)", lambda x: np.roll(x, 7, 1), x=real("n", 3)),
    case("linspace(a, b, 5)", lambda a, b: np.linspace(a, b, 5).astype(a.dtype), a=real(), b=real()),
    case("linspace(a, b, 1)", lambda a, b: np.array([a]), a=real(), b=real()),
    case("linspace(2.0, a, n) + x", lambda a, x: np.linspace(2, a, len(x)).astype(x.dtype) + x, a=real(), x=real("n")),
    case("meshgrid(x, y)", lambda x, y: tuple(np.meshgrid(x, y, indexing="ij")), x=real("n"), y=real(3)),
    case("flatten(x)", lambda x: x.reshape(len(x), 6), x=real("n", 2, 3)),
    case("flatten(x, from: 0)", np.ravel, x=real("n", 3)),
    *[case(f'pad_with(x, low: [1, 0], high: [2, 1], mode: "{m}")', lambda x, m=m: np.pad(x, [(1, 2), (0, 1)], m),
           x=real(4, 3), second=True) for m in PADS],
    case('pad_with(x, low: [0, 2], high: [0, 2], mode: "reflect")', lambda x: np.pad(x, [(0, 0), (2, 2)], "reflect"),
         x=real("n", 3)),
    case('pad_with(x, low: [1], high: [1], mode: "edge")', lambda x: np.pad(x, 1, "edge"), x=real("n"), sizes=(1, 5)),
    case("space_to_depth(x, 2)", lambda x: to_depth(x, 2), x=real("n", 4, 6, 3), second=True),
    case('space_to_depth(x, 3, order: "crd", channels: "first")', lambda x: to_depth(x, 3, "crd", True),
         x=real(2, "n", 3, 6)),
    case('space_to_depth(x, 2, channels: "first")', lambda x: to_depth(x, 2, "dcr", True), x=real(2, 3, 2, 4)),
    case('space_to_depth(x, 2, order: "crd")', lambda x: to_depth(x, 2, "crd"), x=real("n", 2, 2, 3)),
    case("depth_to_space(x, 2)", lambda x: to_space(x, 2), x=real("n", 2, 3, 8), second=True),
    case('depth_to_space(x, 2, order: "crd")', lambda x: to_space(x, 2, "crd"), x=real(1, "n", 2, 8)),
    case('depth_to_space(x, 2, channels: "first")', lambda x: to_space(x, 2, "dcr", True), x=real("n", 8, 2, 3)),
    case('depth_to_space(x, 3, order: "crd", channels: "first")', lambda x: to_space(x, 3, "crd", True),
         x=real(1, 18, 2, "n")),
    case("space_to_batch(x, block: [2, 3], low: [1, 0], high: [0, 2])",
         lambda x: to_batch(x, 2, 3, (1, 0), (0, 2)), x=real("n", 3, 4, 2), second=True),
    case("batch_to_space(x, block: [2, 3], low: [1, 0], high: [0, 2])",
         lambda x: from_batch(x, 2, 3, (1, 0), (0, 2)), x=real(6, 2, 2, "n"), second=True),
]
