import numpy as np

i32 = np.int32


def calls(rng):
    def x(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    for k in range(20):
        yield "put", {"x": x(8, 4), "i": i32(k % 9)}  # 8 is out of range
        yield "state", {}
        yield "get", {}
        yield "get", {}  # the queue is empty
        yield "state", {}
        yield "through", {"x": x(4)}
        yield "many", {"x": x(4), "k": i32(k)}
    for i in (0, 9, 1, 9):  # 9 is out of range
        yield "select", {"x": x(8, 4), "i": i32(i)}
        yield "state", {}
        yield "get", {}
    for _ in range(12):  # the queue has room for 8
        yield "put", {"x": x(8, 4), "i": i32(1)}
        yield "state", {}
