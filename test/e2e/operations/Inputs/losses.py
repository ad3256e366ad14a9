import itertools

import numpy as np
from harness import case, distinct, real, unit, whole

USES = """use losses: mean_squared_error, mean_absolute_error, huber, binary_cross_entropy, smoothed_cross_entropy
use losses: kl_divergence, cosine_similarity, hinge, triplet, accuracy, top_k_accuracy, ctc_loss
"""


def label(*shape):
    return whole(*shape, low=0, high=4, dtype="i32")


def spelt(path, merge):
    """The labels that a path of classes spells; 0 is the blank."""
    return [c for k, c in enumerate(path) if c and not (merge and k and path[k - 1] == c)]


def ctc(x, labels, count, steps, merge=True):
    """The loss by all paths."""
    p = np.exp(log_softmax(x.astype(np.float64)))
    chance = np.zeros(x.shape[1])
    for b, length in enumerate(steps):
        for path in itertools.product(range(x.shape[2]), repeat=int(length)):
            if spelt(path, merge) == list(labels[b, : count[b]]):
                chance[b] += np.prod([p[t, b, c] for t, c in enumerate(path)])
    with np.errstate(divide="ignore"):
        return -np.log(chance).astype(x.dtype)


def log_softmax(x):
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def smoothed(x, i, share):
    target = (1 - share) * np.eye(x.shape[-1])[i] + share / x.shape[-1]
    return -(target * log_softmax(x)).sum(-1).astype(x.dtype)


def huber(x, t, delta):
    d = np.abs(x - t)
    return np.where(d <= delta, d * d / 2, delta * (d - delta / 2)).astype(x.dtype)


def entropy(x, t, positive=1.0):
    p = 1 / (1 + np.exp(-x))
    return -positive * t * np.log(p) - (1 - t) * np.log1p(-p)


def divergence(x, y):
    p, q = np.exp(log_softmax(x)), log_softmax(y)
    return (p * (np.log(p) - q)).sum(-1)


def cosine(x, y):
    return (x * y).sum(-1) / np.linalg.norm(x, axis=-1) / np.linalg.norm(y, axis=-1)


def triplet(a, p, n):
    return np.maximum(((a - p) ** 2).sum(-1) - ((a - n) ** 2).sum(-1) + 1, 0)


def rank(x, i):
    return (x > np.take_along_axis(x, i[..., None].astype(int), -1)).sum(-1)


SOME = {"sizes": (1, 5)}
CASES = [
    *[case(f"ctc_loss(x, i, j, k, merge: {str(merge).lower()})", lambda x, i, j, k, merge=merge: ctc(x, i, j, k, merge),
           x=real(4, "n", 3), i=whole("n", 2, low=1, high=3, dtype="i32"), j=whole("n", low=0, high=3, dtype="i64"),
           k=whole("n", low=3, high=5, dtype="i32"), second=True) for merge in (True, False)],
    case("ctc_loss(x, i, j, k)", ctc, types="f16", x=real(4, "n", 3), i=whole("n", 2, low=1, high=3, dtype="i32"),
         j=whole("n", low=0, high=3, dtype="i64"), k=whole("n", low=3, high=5, dtype="i32"), tolerance=5e-3),
    case("ctc_loss(x, i, j, k)", ctc, x=real(4, "n", 3), i=whole("n", 3, low=2, high=3, dtype="i32"),
         j=whole("n", low=3, high=4, dtype="i64"), k=whole("n", low=0, high=5, dtype="i32"), gradient=False),
    case("ctc_loss(x, i, j, k)", ctc, x=real(0, "n", 3), i=whole("n", 2, low=1, high=3, dtype="i32"),
         j=whole("n", low=0, high=2, dtype="i64"), k=whole("n", low=0, high=1, dtype="i32"), gradient=False),
    case("mean_squared_error(x, t)", lambda x, t: ((x - t) ** 2).mean(), x=real("n", 3), t=real("n", 3), second=True,
         **SOME),
    case("mean_absolute_error(x, t)", lambda x, t: np.abs(x - t).mean(), x=real("n", 3), t=real("n", 3), **SOME),
    case("huber(x, t, delta: 0.7)", lambda x, t: huber(x, t, 0.7), x=real("n", 3), t=real("n", 3), second=True),
    case("binary_cross_entropy(x, t)", entropy, x=real("n", 3), t=unit("n", 3), second=True),
    case("binary_cross_entropy(x, t, positive: 3.0)", lambda x, t: entropy(x, t, 3), x=real("n", 3), t=unit("n", 3),
         second=True),
    case("smoothed_cross_entropy(x, i)", lambda x, i: smoothed(x, i, 0.1), x=real("n", 4), i=label("n"), second=True),
    case("smoothed_cross_entropy(x, i, smoothing: 0.3)", lambda x, i: smoothed(x, i, 0.3), x=real(2, "n", 4),
         i=label(2, "n")),
    case("kl_divergence(softmax(x), log_softmax(y))", divergence, x=real("n", 4), y=real("n", 4), second=True),
    case("kl_divergence(cast(x > 0.0, {T}), y)", lambda x, y: -np.where(x > 0, y, 0).sum(-1), x=real("n", 2),
         y=real("n", 2), gradient=False),
    case("cosine_similarity(x, y)", cosine, x=real("n", 3), y=real("n", 3), second=True),
    case("hinge(x, t)", lambda x, t: np.maximum(1 - t * x, 0), x=real("n", 3), t=real("n", 3)),
    case("triplet(a, p, n1)", triplet, a=real("n", 3), p=real("n", 3), n1=real("n", 3), second=True),
    case("accuracy(x, i)", lambda x, i: np.float32((x.argmax(-1) == i).mean()), x=distinct("n", 4), i=label("n"),
         **SOME),
    case("top_k_accuracy(x, i, 2)", lambda x, i: np.float32((rank(x, i) < 2).mean()), x=distinct("n", 4), i=label("n"),
         **SOME),
]
