import numpy as np


def cases(random):
    total = 0
    for n in 0, 1, 7, 16:
        x = np.round(random.normal(size=n) * 3).astype(np.float32)
        kept = x[x > 0]
        total += len(kept)
        yield "unordered", {"x": x}, [np.array([kept.sum(), len(kept), total], np.float32)]
        distinct, counts = np.unique(x, return_counts=True)
        for flag in False, True:
            value = (distinct * counts).sum() * len(distinct) if flag else x.sum()
            yield "one_side", {"x": x, "flag": np.array(flag)}, [np.float32(value)]
        for rounds in 0, 3:
            parts = [x[x > i] for i in range(rounds)]
            value = sum((part.sum() * len(part) for part in parts), 0.0)
            yield "in_loop", {"x": x, "rounds": np.array(rounds, np.int32)}, [np.float32(value)]
