"""Numbers that are the same with any version of NumPy, for weights and feeds that are not stored."""

import zlib

import numpy as np


def uniform(name, count):
    """`count` numbers from 0 to 1 that belong to a name: splitmix64, seeded with its CRC-32."""
    with np.errstate(over="ignore"):
        z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(zlib.crc32(name.encode()) << 20)) * np.uint64(
            0x9E3779B97F4A7C15)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return (z >> np.uint64(40)) / 2.0**24


def spread(name, shape, mean, deviation):
    """A tensor of f32 with this mean and standard deviation."""
    drawn = uniform(name, int(np.prod(shape))).reshape(shape)
    return (mean + deviation * 12**0.5 * (drawn - 0.5)).astype(np.float32)
