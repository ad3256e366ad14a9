"""The gradients of functions at their kinks, as docs/numerics.md lists them."""

import numpy as np

X = np.array([-3, -0.0, 0, 3, 6, -3, 6, 1, -1, 2.5])
Y = np.array([-3, 0.0, 0, 3, 6, 1, -6, 1, 0, 2.5])
TYPES = {"f64": np.float64, "f32": np.float32}


def activations(x):
    rising, inside = x > 0, (x > -3) & (x < 3)
    hard = np.where(inside, 1 / 6, 0)
    return [
        np.where(rising, 1, 0),  # relu
        np.where(rising & (x < 6), 1, 0),  # relu6
        np.where(rising, 1, 0.25),  # leaky_relu
        np.where(rising, 1, 0.5 * np.exp(np.minimum(x, 0))),  # elu
        1.0507009873554805 * np.where(rising, 1, 1.6732632423543772 * np.exp(np.minimum(x, 0))),
        hard,  # hard_sigmoid
        np.clip(x + 3, 0, 6) / 6 + x * hard,  # hard_swish
        1 / (1 + np.abs(x)) ** 2,  # softsign
        1 / (1 + np.exp(-x)),  # softplus
    ]


def others(x, y):
    flat, half, ones = np.zeros(x.size), np.where(x == y, 0.5, 0), np.ones(x.size)
    return [
        np.sign(x),  # abs
        *[flat] * 5,  # sign, floor, ceil, round, trunc
        ones,  # mod
        np.where(np.abs(x) <= 3, 1, 0),  # clamp
        flat,  # clamp between equal limits
        np.where(x > y, 1, half),  # maximum
        np.where(y > x, 1, half),
        np.where(x < y, 1, half),  # minimum
        np.where(y < x, 1, half),
        np.where(x > y, 1, 0),  # select
    ]


def last_extremes(x, accumulate):
    """The number of running extremes that each element is; of equal elements, the last one counts."""
    count = np.zeros(x.size)
    for end in range(1, x.size + 1):
        count[np.flatnonzero(x[:end] == accumulate(x[:end])[-1])[-1]] += 1
    return count


def first_extremes(x):
    count = np.zeros(x.size)
    for start in range(x.size - 1):
        count[start + np.argmax(x[start : start + 2])] += 1
    return count


def reductions(x, y):
    share = lambda hits: hits / hits.sum()
    return [
        share(x == x.max()),
        share(x == x.min()),
        last_extremes(x, np.maximum.accumulate),
        last_extremes(x, np.minimum.accumulate),
        first_extremes(x),
        share(x == x.max()),
        -np.where(x < 1, 1, np.where(x == 1, 0.5, 0)),  # hinge
        np.clip(x, -3, 3),  # huber
        np.sign(x - y),  # abs of a difference
    ]


def cases(random):
    for name, dtype in TYPES.items():
        x, y = X.astype(dtype), Y.astype(dtype)
        yield f"activations_{name}", {"x": x}, [np.array(activations(X), dtype)]
        for family in others, reductions:
            expected = np.array(family(X, Y), dtype)
            yield f"{family.__name__}_{name}", {"x": x, "y": y}, [expected]


def save(path):
    for name, dtype in TYPES.items():
        np.save(f"{path}.x.{name}.npy", X.astype(dtype))
        np.save(f"{path}.y.{name}.npy", Y.astype(dtype))
