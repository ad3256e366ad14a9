import numpy as np

i32 = np.int32


def calls(rng):
    def x():
        return rng.standard_normal(4).astype(np.float32)

    for _ in range(40):
        for _ in range(2):  # 8 and 9 are out of range
            yield "maybe", {"x": x(), "k": i32(rng.integers(1, 10)), "p": np.bool_(rng.random() < 0.7)}
            yield "state", {}
        yield "mixed", {"x": x(), "k": rng.integers(0, 9, rng.integers(0, 4)).astype(i32)}
        yield "state", {}
        yield "consume", {"n": i32(rng.integers(0, 5))}
        yield "state", {}
        yield "drain", {}
        yield "state", {}
