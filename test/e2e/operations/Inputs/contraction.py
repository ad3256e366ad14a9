import numpy as np
from harness import case, real

CASES = [
    case("matmul(x, y)", np.matmul, x=real("n", 3), y=real(3, 4), second=True, tolerance=1e-5),
    case("matmul(x, y)", np.matmul, x=real(5, "n"), y=real("n", 2), tolerance=1e-5),
    case("matmul(x, y)", np.matmul, x=real(1, 1), y=real(1, 1), tolerance=1e-5),
    case("matmul(x, y)", np.matmul, x=real("n", 2, 3), y=real("n", 3, 4), tolerance=1e-5),
    case("matmul(x, y)", np.matmul, x=real(2, 1, 2, 3), y=real(4, 3, 2), tolerance=1e-5),
    case("matmul(x, y, transpose_lhs: true)", lambda x, y: x.T @ y, x=real(3, "n"), y=real(3, 2),
         tolerance=1e-5),
    case("matmul(x, y, transpose_rhs: true)", lambda x, y: x @ y.T, x=real("n", 3), y=real(5, 3),
         tolerance=1e-5),
    case("matmul(x, y, transpose_lhs: true, transpose_rhs: true)", lambda x, y: x.T @ y.T,
         x=real(3, 2), y=real(5, 3), tolerance=1e-5),
    case("matmul(x, y)", np.matmul, x=real("n", 67), y=real(67, 130), gradient=False,
         sizes=(0, 1, 33, 128, 255), tolerance=1e-4),
    case("matmul(x, y)", np.matmul, types="i32", x=real("n", 3), y=real(3, 4)),
]
