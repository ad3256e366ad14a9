"""The losses of control-gradients.graph in NumPy, for real and complex numbers: the imaginary part of
f(x + ih) / h is the gradient but for h squared, and that gradient has central differences."""

import numpy as np


def branch(x, w):
    s = np.sum(x).real
    y = np.sin(x) * w if s > 1 else x * x if s > 0 else w
    return np.sum(y * y)


def loop(n, x, w):
    h = x
    for _ in range(n):
        h = np.tanh(h * w + 0.1 * x)
    return np.sum(h)


def until_small(x, w):
    s, t = x, w
    while np.sum(s.real * s.real) > 0.01:
        s, t = s * (0.5 + 0.1 * np.sin(t)), t * s + t
    return np.sum(s * w) + np.sum(t)


def nest(n, x, w):
    s = x
    for i in range(n):
        t = s
        for j in range(i):
            t = t * w[j] if j % 2 == 0 else np.sin(t) + w[i]
        s = np.tanh(t + w[i])
    return np.sum(s)


def lists(n, x, w):
    elements = [x, w]
    for i in range(n):
        elements.append(np.sin(elements[i] * elements[i + 1]))
    return sum(np.sum(e * e) for e in elements)


def grown(n, x):
    elements = list(x)
    for i in range(n):
        elements.append(np.sin(elements[i]))
    return np.sum(elements[3] * elements[-1])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(length, x, w):
    rows, time, _ = x.shape
    c = h = np.zeros((rows, 3), w.dtype)
    total = 0
    for t in range(time):
        i, j, f, o = np.split(np.concatenate([x[:, t], h], axis=1) @ w, 4, axis=1)
        c1 = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
        h1 = sigmoid(o) * np.tanh(c1)
        live = (t < length)[:, None]
        c, h = np.where(live, c1, c), np.where(live, h1, h)
        total = total + np.sum(np.where(live, h1 * h1, 0))
    return total + np.sum(c * h)


def descent(n, x, w):
    for _ in range(n):
        x = x - 0.1 * 2 * (np.sin(x) - w) * np.cos(x)
    return np.sum(x * x)


def scanned(x, w):
    h, total = w, 0
    for x_t in x:
        h = np.tanh(h * x_t + w)
        total = total + np.sum(np.sin(h) ** 2)
    return total + np.sum(h)


def of_rows(steps, factors):
    """The gradients of squares of the rows of ones, with factors for rows that are summed."""
    result = np.zeros((5, 2), np.float32)
    for i in steps:
        np.add.at(result, i, 2.0)
    for i, factor in factors:
        result[i] += factor
    return result


class Trained:
    """The state that the entry 'train' changes."""

    def __init__(self):
        self.weight, self.skipped = np.ones(2), 0.0

    def train(self, n, x):
        losses = 0.0
        for j in range(n):
            loss = np.sum((x - self.weight) ** 2)
            if j % 2 == 0:
                self.weight = self.weight + 0.2 * (x - self.weight)
            else:
                self.skipped += loss
            losses += loss
        return [np.asarray(v, np.float32) for v in (losses, self.weight, self.skipped)]


def gradients(loss, values, step=1e-30):
    """The gradients by all values, by complex steps."""
    results = []
    for position, value in enumerate(values):
        result = np.zeros(value.shape)
        for index in np.ndindex(value.shape):
            moved = [v.astype(complex) for v in values]
            moved[position][index] += 1j * step
            result[index] = loss(*moved).imag / step
        results.append(result)
    return results


def first(loss, values):
    return [loss(*values), *gradients(loss, values)]


def second(loss, combine, values, step=1e-5):
    """`combine` of the gradients, and its gradients by central differences."""
    results = [combine(*gradients(loss, values))]
    for position, value in enumerate(values):
        result = np.zeros(value.shape)
        for index in np.ndindex(value.shape):
            sides = []
            for sign in 1, -1:
                moved = [v.copy() for v in values]
                moved[position][index] += sign * step
                sides.append(combine(*gradients(loss, moved)))
            result[index] = (sides[0] - sides[1]) / (2 * step)
        results.append(result)
    return results


def cases(random):
    def draw(*shape):
        return random.uniform(0.2, 1.2, shape)

    for shift in 0.0, 0.7, 2.0:
        x, w = draw(3) - shift, draw(3)
        yield "branch", {"x": x, "w": w}, first(branch, [x, w]), 1e-10
    for n in 0, 1, 2, 7:
        x, w = draw(3), draw(3)
        feeds, f = {"n": n, "x": x, "w": w}, lambda x, w: loop(n, x, w)
        for name in "loop", "loop_all", "loop_sqrt":
            yield name, feeds, first(f, [x, w]), 1e-10
        yield "loop_twice", feeds, second(f, lambda a, b: np.sum(a * b), [x, w]), 1e-7
        yield "lists", feeds, first(lambda x, w: lists(n, x, w), [x, w]), 1e-10
        yield "descent", feeds, first(lambda x, w: descent(n, x, w), [x, w]), 1e-10
    for scale in 0.01, 0.3, 3.0:
        x, w = draw(3) * scale, draw(3)
        feeds = {"x": x, "w": w}
        yield "until_small", feeds, first(until_small, [x, w]), 1e-10
        combine = lambda a, b: np.sum(a * a) + np.sum(np.sin(b))
        yield "until_small_twice", feeds, second(until_small, combine, [x, w]), 1e-6
    for n in 0, 1, 2, 5:
        x, w = draw(3), draw(8, 3)
        feeds, f = {"n": n, "x": x, "w": w}, lambda x, w: nest(n, x, w)
        yield "nest", feeds, first(f, [x, w]), 1e-10
        combine = lambda a, b: np.sum(np.sin(a)) + np.sum(b * b)
        yield "nest_twice", feeds, second(f, combine, [x, w]), 1e-6
        x = draw(4, 3)
        feeds, f = {"n": n, "x": x}, lambda x: grown(n, x)
        yield "grown", feeds, first(f, [x]), 1e-10
        yield "grown_twice", feeds, second(f, lambda a: np.sum(np.sin(a)), [x]), 1e-6
    for rows, time in (2, 4), (1, 1), (3, 0):
        x, w = draw(rows, time, 2), draw(5, 12)
        length = random.integers(0, time + 1, rows).astype(np.int32)
        feeds, f = {"x": x, "length": length, "w": w}, lambda x, w: lstm(length, x, w)
        yield "lstm_first", feeds, first(f, [x, w]), 1e-10
        combine = lambda a, b: np.sum(np.sin(a)) + np.sum(b * b)
        yield "lstm_second", feeds, second(f, combine, [x, w]), 1e-6
    for time in 0, 1, 3, 10:
        x, w = draw(time, 3), draw(3)
        for name in "scanned", "scanned_all", "scanned_sqrt":
            yield name, {"x": x, "w": w}, first(scanned, [x, w]), 1e-10
    for n in 0, 1, 3:
        i = random.integers(0, 5, 3).astype(np.int32)
        yield "rows", {"i": i, "n": n}, [of_rows([i], [(i[0], j) for j in range(n)])]
        i = random.integers(0, 5, (n, 3)).astype(np.int32)
        yield "rows_of_steps", {"i": i}, [of_rows(i, [])]
    trained = Trained()
    for n in 0, 1, 4:
        x = draw(2).astype(np.float32)
        yield "train", {"n": n, "x": x}, trained.train(n, x)
