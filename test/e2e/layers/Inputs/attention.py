import numpy as np
from layers import case
from numpy_layers import *

SHAPE = ("n", 4, 6)
X, VALID = ("real", *SHAPE), ("bool", "n", 4)
CASES = [
    case("attention(3)", "it(x)", lambda v, x: attention(v, x, 3), SHAPE, x=X),
    case("attention(2, causal: true, bias: false)", "it(x)",
         lambda v, x: attention(v, x, 2, causal=True), (2, "n", 6), x=("real", 2, "n", 6)),
    case("attention(2, causal: true)", "it(x, valid: m)",
         lambda v, x, m: attention(v, x, 2, m, True), SHAPE, x=X, m=VALID),
    case("cross_attention(2)", "it(x, y)", lambda v, x, y: cross_attention(v, x, y, 2), SHAPE, x=X,
         y=("real", "n", 3, 5)),
    case("cross_attention(2)", "it(x, y, valid: m)", lambda v, x, y, m: cross_attention(v, x, y, 2, m),
         (2, 3, 6), x=("real", 2, 3, 6), y=("real", 2, "n", 5), m=("bool", 2, "n")),
    case("feed_forward(4)", "it(x)", feed_forward, SHAPE, x=X),
    case("", "attend(q, k, v, valid: m)", lambda v, q, k, w, m: attend(q, k, w, m), ("n", 2, 3, 5),
         q=("real", "n", 2, 3, 4), k=("real", "n", 2, 4, 4), v=("real", "n", 2, 4, 5), m=("bool", "n", 3, 4)),
    case("", "attend(q, k, v, valid: m, score_bias: b, causal: true)",
         lambda v, q, k, w, m, b: attend(q, k, w, m, True, b), ("n", 4, 3, 2), q=("real", "n", 4, 3, 4),
         k=("real", "n", 2, 3, 4), v=("real", "n", 2, 3, 2), m=("bool", "n", 4, 3, 3), b=("real", 4, 3, 3)),
    case("attention(4, shared: 1, causal: true)", "it(x)",
         lambda v, x: attention(v, x, 4, causal=True, shared=1), (2, "n", 8), x=("real", 2, "n", 8)),
    case("attention(2, shared: 2, rotary_base: 10000.0, bias: false)", "it(x, score_bias: b)",
         lambda v, x, b: attention(v, x, 2, turned=True, bias=b), ("n", 3, 8), x=("real", "n", 3, 8),
         b=("real", "n", 2, 3, 3)),
    case("attention(4, shared: 2, rotary_base: 10000.0)", "it.step(x, k, v, 2)",
         lambda v, x, k, w: attention_step(v, x, k, w, 2, 4, 2, turned=True), ("n", 2, 8), (5, "n", 2, 2),
         (5, "n", 2, 2), x=("real", "n", 2, 8), k=("real", 5, "n", 2, 2), v=("real", 5, "n", 2, 2)),
    case("attention(2)", "it.step(x, k, v, 4, valid: m, score_bias: alibi({T}[2, 1, 5], first: 4))",
         lambda v, x, k, w, m: attention_step(v, x, k, w, 4, 2, 2, m, bias=alibi(2, 1, 5, 4)), ("n", 1, 4),
         (5, "n", 2, 2), (5, "n", 2, 2), x=("real", "n", 1, 4), k=("real", 5, "n", 2, 2), v=("real", 5, "n", 2, 2),
         m=("bool", "n", 5)),
    case("feed_forward(4, gated: true, activation: silu, bias: false)", "it(x)", feed_forward, SHAPE, x=X),
]
