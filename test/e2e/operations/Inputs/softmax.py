import numpy as np
from harness import case, positive, real, whole


def log_softmax(x, axis=-1):
    z = x - x.max(axis=axis, keepdims=True, initial=-np.inf)
    return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))


def softmax(x, axis=-1):
    return np.exp(log_softmax(x, axis))


def sparse(x, label):
    return -np.take_along_axis(log_softmax(x), label[..., None].astype(np.int64), -1)[..., 0]


def masked(x):
    return softmax(np.where(np.tri(*x.shape[-2:], dtype=bool), x, -np.inf))


def labels(*shape):
    return whole(*shape, low=0, high=4, dtype="i32")


CASES = [
    case("softmax(x)", softmax, x=real("n", 4), second=True),
    case("softmax(x, axis: 0)", lambda x: softmax(x, 0), x=real(3, "n"), second=True),
    case("softmax(x, axis: -2)", lambda x: softmax(x, -2), x=real(2, 3, "n")),
    case("softmax(x)", softmax, x=real("n", 1)),
    case("softmax(x)", softmax, types="f16", x=real("n", 4)),
    case("sparse_softmax_cross_entropy(x, i)", sparse, types="f16", x=real("n", 4), i=labels("n")),
    case("softmax(x * 1000.0)", lambda x: softmax(x * 1000), x=real("n", 5), gradient=False),
    case("log_softmax(x)", log_softmax, x=real("n", 4), second=True),
    case("log_softmax(x, axis: 1)", lambda x: log_softmax(x, 1), x=real("n", 3, 2), second=True),
    case("softmax_cross_entropy(x, p)", lambda x, p: -(p * log_softmax(x)).sum(-1), x=real("n", 4),
         p=positive("n", 4), second=True),
    case("sparse_softmax_cross_entropy(x, i)", sparse, x=real("n", 4), i=labels("n"), second=True),
    case("sparse_softmax_cross_entropy(x, i)", sparse, x=real(2, "n", 4), i=labels(2, "n")),
    case("softmax(causal_mask(x))", masked, x=real("n", 3, 3), second=True),
]
