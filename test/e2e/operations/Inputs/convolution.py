import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np
from harness import case, real, whole
from windows import convolution, convolution_transpose, convolution_weights


def text_of(name, operands, options):
    def literal(value):
        if isinstance(value, str):
            return f'"{value}"'
        return f"[{', '.join(map(str, value))}]" if isinstance(value, (list, tuple)) else str(value)

    return f"{name}({', '.join(operands)}{''.join(f', {k}: {literal(v)}' for k, v in options.items())})"


def convolved(x, kernel, second=False, types="f64 f32", sizes=None, gradient=True, result=None,
              **options):
    return case(text_of("convolution", ("x", "kernel"), options),
                lambda x, kernel: convolution(x, kernel, **options), x=x, kernel=kernel,
                second=second, types=types, sizes=sizes, gradient=gradient, result=result, tolerance=1e-4)


def transposed(x, kernel, second=False, sizes_of_n=None, **options):
    return case(text_of("convolution_transpose", ("x", "kernel"), options),
                lambda x, kernel: convolution_transpose(x, kernel, **options), x=x, kernel=kernel,
                second=second, sizes=sizes_of_n, tolerance=1e-4)


def weighed(x, grad, size, second=False, **options):
    return case(text_of("convolution_weights", ("x", "grad"), {"size": size, **options}),
                lambda x, grad: convolution_weights(x, grad, size, **options), x=x, grad=grad,
                second=second, tolerance=1e-4)


CASES = [
    convolved(real("n", 5, 6, 2), real(3, 3, 2, 3), second=True),
    convolved(real("n", 5, 6, 2), real(3, 3, 2, 3), second=True, padding="same"),
    convolved(real("n", 6, 5, 2), real(3, 2, 2, 3), stride=2, padding="same"),
    convolved(real("n", 7, 7, 1), real(3, 3, 1, 2), second=True, stride=[2, 3], padding="same"),
    convolved(real("n", 7, 6, 2), real(2, 3, 2, 2), stride=[3, 2]),
    convolved(real("n", 6, 7, 2), real(2, 3, 2, 2), dilation=[1, 2], padding="same"),
    convolved(real("n", 7, 7, 1), real(3, 2, 1, 2), second=True, dilation=2, stride=2, pads=1),
    convolved(real("n", 4, 4, 2), real(3, 3, 2, 2), pads=[2, 1]),
    convolved(real("n", 4, 4, 2), real(3, 3, 2, 2), pads=[0, 2, 3, 1], stride=2),
    convolved(real("n", 5, 5, 4), real(3, 3, 2, 6), second=True, groups=2, padding="same"),
    convolved(real("n", 5, 5, 3), real(3, 3, 1, 3), groups=3),
    convolved(real("n", 5, 5, 3), real(3, 3, 1, 6), groups=3, stride=2, padding="same"),
    convolved(real("n", 4, 3, 5), real(1, 1, 5, 4), second=True),
    convolved(real("n", 5, 4, 3), real(1, 1, 3, 2), stride=2, padding="same"),
    convolved(real("n", 9, 2), real(3, 2, 3), second=True, stride=2, pads=[0, 2]),
    convolved(real(2, "n", 2), real(3, 2, 3), padding="same"),
    convolved(real(2, "n", 2), real(3, 2, 3), padding="same", stride=2,
              result="{T}[2, (n + 1) // 2, 3]"),
    convolved(real(2, "n", "n", 1), real(2, 2, 1, 2), sizes=(2, 3, 5),
              result="{T}[2, n - 1, n - 1, 2]"),
    convolved(real(2, "n", 2), real(4, 2, 2), pads=2, sizes=(1, 5)),
    convolved(real(1, 6, 2), real("n", 2, 2), padding="same", sizes=(1, 2, 5)),
    convolved(real("n", 4, 3, 5, 2), real(2, 3, 2, 2, 3), padding="same", stride=[1, 1, 2]),
    convolved(real(1, 3, 3, 3, 2), real(3, 3, 3, 2, 2), padding="same", second=True),
    convolved(real(0, 3, 3, 2), real(3, 3, 2, 2), padding="same"),
    convolved(real(2, 3, 3, 0), real(2, 2, 0, 2)),
    convolved(whole("n", 5, 5, 2), whole(3, 3, 2, 3), padding="same", types="i32 i8"),
    case('convolution(x, kernel, padding: "same")',
         lambda x, kernel: convolution(x.astype(np.float32), kernel.astype(np.float32),
                                       padding="same").astype(x.dtype),
         x=real("n", 5, 6, 7), kernel=real(3, 3, 7, 4), types="f16"),
    convolved(real("n", 8, 8, 3), real(5, 5, 3, 17), padding="same", gradient=False,
              sizes=(0, 1, 3)),
    convolved(real("n", 13, 14, 40), real(3, 3, 40, 33), padding="same", gradient=False,
              sizes=(1, 2)),
    convolved(real("n", 9, 21, 16), real(3, 3, 16, 64), stride=2, padding="same", gradient=False,
              sizes=(1, 2)),
    convolved(real("n", 7, 7, 48), real(3, 3, 1, 48), groups=48, padding="same", gradient=False,
              sizes=(1, 2)),
    convolved(real("n", 17, 19, 24), real(3, 3, 1, 24), groups=24, padding="same", gradient=False,
              sizes=(1, 2)),
    convolved(real("n", 16, 30, 18), real(3, 3, 1, 18), groups=18, padding="same", stride=2,
              gradient=False, sizes=(1, 2)),
    convolved(real("n", 9, 23, 8), real(5, 5, 1, 8), groups=8, padding="same", dilation=2,
              gradient=False, sizes=(1, 2)),
    convolved(real("n", 11, 12, 20), real(7, 7, 1, 20), groups=20, padding="same", gradient=False,
              sizes=(1,)),
    convolved(real("n", 33, 40), real(5, 1, 40), groups=40, pads=[1, 3], gradient=False,
              sizes=(1, 2)),
    transposed(real("n", 3, 4, 3), real(3, 3, 2, 3), second=True),
    transposed(real("n", 3, 4, 3), real(3, 3, 2, 3), second=True, stride=2, padding="same"),
    transposed(real("n", 3, 3, 2), real(3, 3, 2, 2), stride=2, sizes=[5, 6], padding="same"),
    transposed(real("n", 3, 3, 2), real(2, 2, 2, 2), stride=[3, 2], output_padding=[2, 0]),
    transposed(real("n", 4, 3, 2), real(3, 3, 2, 2), pads=1, dilation=2),
    transposed(real("n", 4, 3, 2), real(4, 4, 2, 2), pads=[1, 0, 2, 1], stride=2, output_padding=1),
    transposed(real("n", 3, 4), real(3, 3, 4), groups=2, second=True),
    transposed(real(2, "n", 2), real(3, 2, 2), stride=2, padding="same"),
    transposed(real(2, "n", 2), real(3, 2, 2), stride=2, sizes_of_n=(1, 4)),
    weighed(real("n", 5, 5, 2), real("n", 5, 5, 3), [3, 3], second=True, padding="same"),
    weighed(real("n", 5, 6, 4), real("n", 3, 3, 2), [3, 2], padding="same", stride=2, groups=2),
    weighed(real("n", 5, 1), real("n", 3, 1), [3]),
]
