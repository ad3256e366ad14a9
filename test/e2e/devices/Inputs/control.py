import numpy as np

i32 = np.int32


def calls(rng):
    def x(n):
        return rng.standard_normal((n, 4)).astype(np.float32)

    for n in (3, 0, 64):
        for k in (0, 1, 2, 7):
            yield "iterate", {"x": x(n), "k": i32(k)}
            yield "train", {"x": x(n), "k": i32(k)}
            yield "state", {}
        for p in (True, False):
            yield "branch", {"x": x(n), "p": np.bool_(p)}
        yield "early", {"x": x(n), "limit": np.float32(5)}
        for i, j in ((0, 0), (2, 9), (99, 0), (99, 9), (-9, 3)):
            yield "pick", {"x": x(n), "i": i32(i), "j": i32(j)}
            yield "state", {}
        if n <= 16:
            yield "lists", {"x": x(n)}
            for i in (0, n - 1, n):
                yield "readers", {"x": x(n), "i": i32(i)}
        yield "positive", {"x": x(n)}
        yield "endless", {"x": np.ones(4, np.float32), "limit": np.float32(2)}
        yield "endless", {"x": np.ones(4, np.float32), "limit": np.float32(50)}  # never reached
        yield "swap", {}
        yield "state", {}
