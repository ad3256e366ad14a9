import numpy as np

f32, i32 = np.float32, np.int32


def cases(random):
    for n in 0, 1, 6:
        x = random.normal(size=5).astype(f32)
        yield "sum_up", {"n": i32(n), "x": x}, [x * f32(sum(range(n)))]
    yield "choose", {"x": f32(3), "c": np.bool_(True)}, [f32(6), i32(0)]
    yield "state", {}, [f32(0)]
    yield "choose", {"x": f32(3), "c": np.bool_(False)}, [f32(3), i32(1)]
    yield "state", {}, [f32(3)]
    for n in 0, 1, 5:
        y = f32(1.5)
        for i in range(n):
            y = y + f32(1) if i % 2 == 0 else y * f32(2)
        yield "mixed", {"n": i32(n), "x": f32(1.5)}, [y]
    for _ in range(3):
        yield "draws", {}, [i32(6), i32(0)]
