"""The calls of divisible.graph against NumPy, and those that fail."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))
from model import Failed, Model

model = Model(sys.argv[1])
count, wrong = 0, 0


def check(entry, expected, **feeds):
    """`expected` is the results, or a part of the message."""
    global count, wrong
    count += 1
    try:
        got = model.call(entry, **feeds)
        fits = not isinstance(expected, str) and all(
            a.shape == np.shape(b) and np.allclose(a, b, rtol=1e-5) for a, b in zip(got, expected))
    except Failed as error:
        got = str(error)
        fits = isinstance(expected, str) and expected in got
    if not fits:
        wrong += 1
        print(f"{entry}: expected {expected!r}, got {got!r}")


random = np.random.default_rng(1)


def draw(*shape):
    return random.normal(size=shape).astype(np.float32)


for h in 0, 4, 20, 64:
    x = draw(h)
    y = x.reshape(h // 4, 4)
    check("quarters", [y, x * (h // 2), np.repeat(2 * y.sum(1), 4)], x=x)
for h in 1, 6, 63:
    check("quarters", f"h % 4 == 0 at divisible.graph:10 does not hold: h is {h}", x=draw(h))
check("quarters", "h = 68 exceeds its bound 64", x=draw(68))
for h, w in (4, 4), (8, 20):
    x = draw(1, h, w, 2)
    tiles = x.reshape(1, h // 4, 4, w // 4, 4, 2)
    check("pooled", [(tiles - tiles.max((2, 4), keepdims=True)).reshape(x.shape)], x=x)
check("pooled", "w % 4 == 0 at divisible.graph:16 does not hold", x=draw(1, 8, 6, 2))
for n in 1, 3, 17:
    x = draw(n)
    check("odd", [x[1:].reshape(-1, 2)], x=x)
check("odd", "n % 2 == 1 at divisible.graph:22 does not hold: n is 4", x=draw(4))
x, y, z = draw(5), draw(5), draw(5)
check("equal", [x + y + z], x=x, y=y, z=z)
check("equal", "but expected f32[c]", x=draw(4), y=y, z=z)
check("joined", [x + np.concatenate([y[:2], z[:3]])], x=x, y=y[:2], z=z[:3])
check("second", [x[1]], x=x)
check("second", "n = 1 is below its bound 2", x=draw(1))
print(f"{count} calls as expected" if not wrong else f"{wrong} wrong")
sys.exit(1 if wrong else 0)
