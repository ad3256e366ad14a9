import numpy as np

f32, i32, i64 = np.float32, np.int32, np.int64


def collatz(n):
    steps = 0
    while n > 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def passes(x, limit):
    i, s = 0, f32(0)
    while i < len(x) and s <= limit:
        i, s = i + 1, s + x[i]
    return i32(i), f32(s)


def nested(n, m, x):
    for i in range(n):
        for j in range(i, m):
            x = x * f32(0.5) + f32(i * j)
        x = x + f32(1)
    return x


def branches(n, x):
    if n <= 2:
        return -x
    for i in range(n):
        if i % 2 == 0:
            x = x + f32(1)
        elif i % 3 == 0:
            x = f32(2) * x
    return x


def running(x):
    state, rows = np.zeros(3, f32), []
    for row in x:
        state = f32(0.5) * state + row
        rows.append(np.tanh(state))
    return state, np.array(rows, f32).reshape(-1, 3)


def cases(random):
    for n in 1, 2, 7, 27:
        yield "collatz", {"n": i64(n)}, [i32(collatz(n))]
    for n in 0, 1, 2, 50:
        yield "fibonacci", {"n": i32(n)}, [i64(fibonacci(n))]
    for n in 0, 1, 12:
        x = random.uniform(size=n).astype(f32)
        for limit in 0.0, 2.0, 100.0:
            yield "passes", {"x": x, "limit": f32(limit)}, list(passes(x, f32(limit)))
    for n, m in (0, 3), (3, 0), (4, 6), (5, 2):
        x = random.normal(size=3).astype(f32)
        yield "nested", {"n": i32(n), "m": i32(m), "x": x}, [nested(n, m, x)]
    for n in -1, 2, 3, 9:
        x = random.normal(size=4).astype(f32)
        yield "branches", {"n": i32(n), "x": x}, [branches(n, x)]
    total = 0.0
    for n in 0, 2, 6, 4:
        total += sum(i for i in range(n) if i != 3)
        yield "counts", {"n": i32(n)}, [f32(total)]
    for n in 0, 1, 5:
        x = random.normal(size=(n, 3)).astype(f32)
        yield "running", {"x": x}, list(running(x))
        y = random.normal(size=(n, 2)).astype(f32)
        yield "reversed", {"x": y}, [y[::-1]]
        z = random.normal(size=(n, 2, 3)).astype(f32)
        yield "joined", {"x": z}, [z.reshape(-1, 3)]
    yield "squares", {}, [np.array([4, 9, 16, 25], i32)]
    x = random.normal(size=(4, 3)).astype(f32)
    for at in [], [2], [3, 0, 3]:
        at = np.array(at, i32)
        z = x.copy()
        z[at] = 2 * x[at]
        yield "places", {"x": x, "at": at}, [x[at], z]
