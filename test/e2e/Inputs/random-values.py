"""Philox 4x32-10 and the distributions built on it."""

import numpy as np

MASK = np.uint64(0xFFFFFFFF)


def philox(count, counter, seed):
    """Four words for each element, as uint64."""
    index, shift = np.arange(count, dtype=np.uint64), np.uint64(32)
    counter, seed = np.uint64(counter % 2**64), seed % 2**64
    c = [index & MASK, index >> shift, np.full(count, counter & MASK), np.full(count, counter >> shift)]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (q >> shift) ^ c[1] ^ np.uint64(k[0]),
            q & MASK,
            (p >> shift) ^ c[3] ^ np.uint64(k[1]),
            p & MASK,
        ]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def pair(words, double):
    if not double:
        return [(w >> np.uint64(8)).astype(np.float64) * 2.0**-24 for w in words[:2]]
    five, six = np.uint64(5), np.uint64(6)
    return [
        ((high >> five).astype(np.float64) * 2.0**26 + (low >> six).astype(np.float64)) * 2.0**-53
        for high, low in (words[:2], words[2:])
    ]


def normal(u, v):
    return np.sqrt(-2 * np.log(1 - u)) * np.cos(2 * np.pi * v)


def erf(x):
    """By its series, which converges quickly for |x| < 2."""
    term, total = x.copy(), x.copy()
    for k in range(1, 80):
        term = term * -(x**2) / k
        total = total + term / (2 * k + 1)
    return 2 / np.sqrt(np.pi) * total


def truncated(u):
    """Solves erf(z / sqrt 2) = (2 u - 1) erf(sqrt 2) by bisection."""
    goal = (2 * u - 1) * 0.95449973610364158
    low, high = np.full_like(u, -2.0), np.full_like(u, 2.0)
    for _ in range(60):
        middle = (low + high) / 2
        below = erf(middle / np.sqrt(2)) < goal
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def cases(random):
    for n, counter in (0, 0), (1, 0), (50, 3), (9, 2**40 + 1):
        feeds = {"k": np.array(counter, np.int64), "x": np.zeros(n, np.float32)}
        words = philox(3 * n, counter, 7)
        u, v = pair(words, False)
        integers = -5 + ((words[0] * np.uint64(25)) >> np.uint64(32)).astype(np.int64)
        results = [-1 + 4 * u, 1 + 2 * normal(u, v), truncated(u), integers.astype(np.int32), u < 0.25]
        results = [r.astype(np.float32) if r.dtype == np.float64 else r for r in results]
        yield "singles", feeds, [r.reshape(n, 3) for r in results], 2e-5
        u, v = pair(philox(n, counter, -12345678901), True)
        yield "doubles", feeds, [u, normal(u, v), truncated(u)], 1e-12
