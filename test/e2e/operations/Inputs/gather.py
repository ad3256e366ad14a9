import numpy as np
from harness import case, distinct, real, whole


def index(limit, *shape):
    return whole(*shape, low=0, high=limit, dtype="i32")


def add(x, i, u):
    y = x.copy()
    np.add.at(y, i, u)
    return y


def update(x, i, u):
    y = x.copy()
    for k, row in zip(i, u):
        y[k] = row
    return y


def skipping(x, i):
    inside = (i >= 0) & (i < len(x))
    return np.where(inside[:, None], -x[np.where(inside, i, 0)], 0).astype(x.dtype)


def coalesce(x, i):
    unique, rows = np.full(len(i), -1, np.int64), np.zeros_like(x)
    for k, value in enumerate(np.unique(i)):
        unique[k], rows[k] = value, x[i == value].sum(0)
    return unique, rows


CASES = [
    case("gather(-x, i)", lambda x, i: -x[i], x=real(4, 2), i=index(4, "n"), second=True),
    case("gather(-x, i)", lambda x, i: -x[i], types="f64 f16 i32", x=whole(4, 2), i=index(4, 3, "n")),
    case("gather(-x, i)", lambda x, i: -x[i], x=real(4), i=index(4)),
    case("gather(-x, [3, 1])", lambda x: -x[[3, 1]], x=real(4, "n"), second=True),
    case("gather(x, 2, axis: 1) * 2", lambda x: x[:, 2] * 2, x=real("n", 4, 3)),
    case("gather(x, i, axis: 1)", lambda x, i: x[:, i], x=real("n", 4, 3), i=index(4, 2, 2), second=True),
    case("gather(x, i, axis: -1)", lambda x, i: x[:, i], x=real(2, 4), i=index(4, "n"), second=True),
    case('gather(-x, i, outside: "skip")', skipping, x=real(4, 2),
         i=whole("n", low=-2, high=7, dtype="i32")),
    case("gather(-x, check_indices(i, f32[4, 2]))", lambda x, i: -x[i], x=real(4, 2), i=index(4, "n"),
         second=True),
    case('check_indices(i, [n, 4], axis: 1, what: "place")', lambda i: i, types="i32", i=index(4, "n")),
    case("gather_nd(x, i)", lambda x, i: x[i[..., 0], i[..., 1]], x=real(3, 3, 2), i=index(3, "n", 2),
         second=True),
    case("gather_nd(x, i)", lambda x, i: x[i[..., 0]], x=real(3, 2), i=index(3, 2, "n", 1)),
    case("take_along_axis(x, i)", lambda x, i: np.take_along_axis(x, i.astype(np.int64), -1), x=real("n", 4),
         i=index(4, "n", 3), second=True),
    case("take_along_axis(x, i, axis: 0)", lambda x, i: np.take_along_axis(x, i.astype(np.int64), 0),
         x=real(4, "n"), i=index(4, 2, "n"), second=True),
    case("scatter_add(x, i, u)", add, x=real(4, 2), i=index(4, "n"), u=real("n", 2), second=True),
    case("scatter_add(x, i, u)", add, types="i32 f32", x=whole(4), i=index(4, "n"), u=whole("n")),
    case("scatter_update(x, i, u)", update, x=real(4, 2), i=index(4, "n"), u=real("n", 2), second=True),
    case("one_hot(i, 4)", lambda i: np.eye(4, dtype=np.float32)[i], types="f32", i=index(4, "n", 2)),
    case("argsort(x)", lambda x: np.argsort(x, kind="stable"), x=distinct("n")),
    case("argsort(x, axis: 0)", lambda x: np.argsort(x, 0, kind="stable"), types="i32", x=whole(6, "n")),
    case("coalesce(i, x)", coalesce, x=real("n", 2), i=whole("n", low=0, high=3, dtype="i64"),
         gradient=False),
    case("x[:, i]", lambda x, i: x[:, i], x=real("n", 5), i=index(5), second=True),
    case("x[1:, i, .., j]", lambda x, i, j: x[1:, i, :, j], x=real(3, 4, "n", 2), i=index(4),
         j=index(2)),
]
