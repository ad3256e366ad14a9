"""Candidates of a log-uniform distribution, and sampled softmax, in NumPy."""

import numpy as np


def check_candidates(sampled, expected, label, label_expected, classes):
    """Distinct classes, with the probability of each to be among the draws, whose number is that of one of them."""
    assert len(set(sampled)) == len(sampled) and sampled.min() >= 0 and sampled.max() < classes, sampled
    p = np.log1p(1 / (np.arange(classes) + 1.0)) / np.log(classes + 1.0)
    np.testing.assert_allclose(p.sum(), 1)
    rarest = sampled.argmax()
    tries = np.round(np.log1p(-float(expected[rarest])) / np.log1p(-p[sampled[rarest]]))
    assert tries >= len(sampled), tries
    for ids, got in (sampled, expected), (label, label_expected):
        np.testing.assert_allclose(got, 1 - (1 - p[ids]) ** tries, rtol=1e-5)


def sampled_softmax(x, label, w, b, sampled, expected, label_expected):
    """The losses of rows, and the gradients of their sum with respect to x, w and b."""
    ids = np.concatenate([label, sampled])
    offset = b[ids] - np.log(np.concatenate([label_expected, expected]).astype(np.float64))
    n = len(x)
    logits = x @ w[ids].T + offset
    # The first column is that of the label.
    own = np.arange(n)
    logits = np.concatenate([logits[own, own][:, None], logits[:, n:]], axis=1)
    logits[:, 1:][sampled == label[:, None]] = -np.inf
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    losses = -np.log(p[:, 0])
    p[:, 0] -= 1
    dx = p[:, :1] * w[label] + p[:, 1:] @ w[sampled]
    dw, db = np.zeros(w.shape), np.zeros(b.shape)
    np.add.at(dw, label, p[:, :1] * x)
    np.add.at(dw, sampled, p[:, 1:].T @ x)
    np.add.at(db, label, p[:, 0])
    np.add.at(db, sampled, p[:, 1:].sum(0))
    return losses, dx, dw, db
