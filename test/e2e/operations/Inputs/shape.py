import numpy as np
from harness import case, real, whole

CASES = [
    case("reshape(x, [n, 6])", lambda x: x.reshape(len(x), 6), x=real("n", 2, 3)),
    case("reshape(x, [6])", lambda x: x.reshape(6), x=real(3, 2)),
    case("reshape(x, [])", lambda x: x.reshape(()), x=real(1, 1)),
    case("transpose(x, [1, 0])", lambda x: x.T, x=real("n", 3)),
    case("transpose(x, [2, 0, 1])", lambda x: x.transpose(2, 0, 1), x=real(2, "n", 3)),
    case("transpose(x)", lambda x: x.T, x=real(2, 1, 3)),
    case("broadcast(x, [n, 4, 3])", lambda x, y: np.broadcast_to(x, (len(y), 4, 3)),
         x=real(1, 3), y=real("n"), gradient=False),
    case("cast(x, i32)", lambda x: x.astype(np.int32), x=real("n", 3)),
    case("cast(x, f32)", lambda x: x.astype(np.float32), types="i32 f64 i8", x=whole("n", 3)),
    case("cast(x, bool)", lambda x: x.astype(np.bool_), types="f32 i32", x=whole("n", low=-1, high=2)),
]
