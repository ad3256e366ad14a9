import numpy as np


def calls(rng):
    def indices(*shape):
        """Indices below 8, and sometimes 8 or more."""
        return rng.integers(0, 9 if rng.random() < 0.7 else 8, shape).astype(np.int32)

    x = rng.standard_normal((8, 4)).astype(np.float32)
    for _ in range(60):
        n = int(rng.integers(1, 17))
        yield "race", {"x": x, "i": indices(n), "j": indices(n)}
        yield "nested", {"x": x, "i": indices(n, 4), "j": indices(n)}
        yield "choose", {"x": x, "i": indices(n), "j": indices(n)}
        yield "state", {}
