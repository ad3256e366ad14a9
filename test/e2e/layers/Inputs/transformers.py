import numpy as np
from layers import case
from numpy_layers import *

SHAPE = ("n", 4, 6)
X, VALID = ("real", *SHAPE), ("bool", "n", 4)
CASES = [
    case("transformer_block(2, hidden: 5)", "it(x, valid: m)",
         lambda v, x, m: transformer_block(v, x, 2, m), SHAPE, x=X, m=VALID),
    case("transformer_block(2, hidden: 5, causal: true)", "it(x)",
         lambda v, x: transformer_block(v, x, 2, causal=True), (2, "n", 4), x=("real", 2, "n", 4)),
    case("decoder_block(2, hidden: 5)", "it(x, y, valid: m)",
         lambda v, x, y, m: decoder_block(v, x, y, 2, m), SHAPE, x=X, y=("real", "n", 3, 4),
         m=("bool", "n", 3)),
    case("transformer_block(2, hidden: 5, norm_first: false)", "it(x, valid: m)",
         lambda v, x, m: transformer_block(v, x, 2, m, norm_first=False), SHAPE, x=X, m=VALID),
    case('transformer_block(4, hidden: 5, causal: true, norm: "rms", gated: true, bias: false, activation: silu, '
         "shared: 2, rotary_base: 10000.0)", "it(x)",
         lambda v, x: transformer_block(v, x, 4, causal=True, norm=rms_norm, shared=2, turned=True), (2, "n", 8),
         x=("real", 2, "n", 8)),
    case("transformer_block(2, hidden: 3)", "it.step(x, k, v, 1)",
         lambda v, x, k, w: block_step(v, x, k, w, 1, 2), ("n", 2, 4), (3, "n", 2, 2), (3, "n", 2, 2),
         x=("real", "n", 2, 4), k=("real", 3, "n", 2, 2), v=("real", 3, "n", 2, 2)),
    case("transformer_block(2, hidden: 3, norm_first: false)", "it.step(x, k, v, 0)",
         lambda v, x, k, w: block_step(v, x, k, w, 0, 2, False), ("n", 1, 4), (3, "n", 2, 2), (3, "n", 2, 2),
         x=("real", "n", 1, 4), k=("real", 3, "n", 2, 2), v=("real", 3, "n", 2, 2)),
    case("decoder_block(2, hidden: 5, norm_first: false)", "it(x, y)",
         lambda v, x, y: decoder_block(v, x, y, 2, norm_first=False), (2, "n", 6), x=("real", 2, "n", 6),
         y=("real", 2, 3, 4)),
]
