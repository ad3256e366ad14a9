"""The expected results of literals.graph."""

import numpy as np

X, I = np.array([1, 2], np.float16), np.array([0, 1, 7], np.int32)


def cases(random):
    yield "numbers", {"n": np.int32(0)}, [
        np.array([2**53 + 1, -(2**63), 2**63 - 1]),
        np.array([2**53 + 1, 0]),
        np.array([16777217, -2, 2**31 - 1], np.int32),
        np.array(16777217, np.int32),
        np.array([9007200328482816, 0.1], np.float32),
        np.array([65504, -np.inf], np.float16),
        np.array([False, False, True, True]),
        np.array([255, 0], np.uint8),
        np.array(1, np.float32),
    ]
    square = np.array([[1, 2], [3, 4]])
    yield "moves", {"x": X, "i": I}, [
        np.array([255, 0, 1, 255], np.uint8),
        np.array([-(2**63), 0, 1, -(2**63)]),
        np.array([1 + 2**-10, 1, 2, 1 + 2**-10], np.float16),
        np.array([[-128, 127], [127, -128], [127, 127]], np.int8),
        square,
        I.astype(np.int64) + 2**53 + 1,
        square,
    ]


def save(path):
    np.save(f"{path}.x.npy", X)
    np.save(f"{path}.i.npy", I)
