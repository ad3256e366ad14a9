import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, length, w, b):
    rows, time, _ = x.shape
    units = b.size // 4
    c = h = np.zeros((rows, units))
    y = np.zeros((rows, time, units))
    for t in range(time):
        i, j, f, o = np.split(np.concatenate([x[:, t], h], 1) @ w + b, 4, 1)
        c1 = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
        h1 = sigmoid(o) * np.tanh(c1)
        live = (t < length)[:, None]
        c, h = np.where(live, c1, c), np.where(live, h1, h)
        y[:, t] = np.where(live, h1, 0)
    return y, h


def loss(*args):
    y, h = lstm(*args)
    return (y * y).sum() + h.sum()


def turned(x, v, w, u):
    h, y = np.zeros((2, 11)), []
    for t in reversed(range(6)):
        z = np.concatenate([v, x[:, t], h], 1) @ w.T
        h = np.tanh(0.2 * z + (x[:, t] @ u.T).sum(1, keepdims=True))
        y.append(h)
    return np.array(y)


def inside(x, w):
    h, gx, gj = np.ones((2, 8)), [], []
    for x_t in x:
        y = np.concatenate([h, x_t], 1) @ w
        gj.append(2 * y @ w.T)
        gx.append(gj[-1][:, 8:])
        h = np.tanh(y[:, :8])
    return np.array(gx), np.array(gj)


def after_sines(x, turned):
    s = np.zeros((2, 12))
    for x_t in x:
        s = np.sin(s + x_t @ turned)
    return (s * s).sum()


def slope(args, place, loss=loss, step=1e-5):
    gradient = np.zeros_like(args[place])
    for index in np.ndindex(gradient.shape):
        values = []
        for sign in 1, -1:
            moved = [a.copy() for a in args]
            moved[place][index] += sign * step
            values.append(loss(*moved))
        gradient[index] = (values[0] - values[1]) / (2 * step)
    return gradient


def cases(random):
    for n, t, units in (0, 3, 5), (2, 0, 5), (1, 1, 5), (3, 5, 5), (2, 6, 21), (2, 6, 11):
        features = 40 if units == 11 else 3
        x = random.normal(size=(n, t, features))
        length = random.integers(0, t + 1, size=n).astype(np.int32)
        w, b = random.normal(size=(features + units, 4 * units)), random.normal(size=4 * units)
        feeds = {"x": x, "length": length, "w": w, "b": b}
        args = [x, length, w, b]
        if units > 5:
            yield ("sums" if units == 21 else "wide"), feeds, [slope(args, place) for place in (0, 2, 3)], 1e-6
            continue
        yield "run", feeds, list(lstm(*args))
        yield "slopes", feeds, [slope(args, place) for place in (0, 2, 3)], 1e-6
    shapes = {"x": (2, 6, 40), "v": (2, 7), "w": (11, 58), "u": (3, 40)}
    feeds = {name: random.normal(size=shape) / 4 for name, shape in shapes.items()}
    args = list(feeds.values())
    slopes = [slope(args, place, lambda *args: (turned(*args) ** 3).sum()) for place in range(4)]
    yield "turned", feeds, [turned(*args), *slopes], 1e-6
    x, w = random.normal(size=(6, 2, 40)) / 4, random.normal(size=(48, 12)) / 4
    v = random.normal(size=(12, 40)) / 4
    expected = [*inside(x, w), slope([x, v.T.copy()], 1, after_sines)]
    yield "inside", {"x": x, "w": w, "v": v}, expected, 1e-6
