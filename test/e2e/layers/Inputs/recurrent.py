import numpy as np
from layers import case
from numpy_layers import *

SHAPE = ("n", 4, 6)
X = ("real", *SHAPE)
CASES = [
    case("simple_rnn(3)", "it(x)", simple_rnn, ("n", 4, 3), ("n", 3), x=X),
    case("simple_rnn(3, activation: relu)", "it(x, length: l)",
         lambda v, x, l: simple_rnn(v, x, l, lambda x: np.maximum(x, 0)), ("n", 4, 3), ("n", 3), x=X, l=("i32", "n")),
    case("simple_rnn(3)", "it.step(x, h)", lambda v, x, h: np.tanh(dense(v, x) + h @ v["u"]), ("n", 3),
         x=("real", "n", 2), h=("real", "n", 3)),
    case("lstm(3)", "it(x)", lstm, ("n", 4, 3), ("n", 3), ("n", 3), x=X),
    case("lstm(2)", "it(x, length: l)", lstm, (2, "n", 2), (2, 2), (2, 2), x=("real", 2, "n", 3), l=("i32", 2)),
    case("gru(3)", "it(x)", gru, ("n", 4, 3), ("n", 3), x=X),
    case("gru(2)", "it(x, length: l)", gru, (2, "n", 2), (2, 2), x=("real", 2, "n", 3), l=("i32", 2)),
    case("simple_rnn(2)", "it(x, h: h, reverse: true)", lambda v, x, h: simple_rnn(v, x, h=h, reverse=True),
         (2, "n", 2), (2, 2), x=("real", 2, "n", 3), h=("real", 2, 2)),
    case("lstm(2)", "it(x, c: c, h: h)", lambda v, x, c, h: lstm(v, x, c=c, h=h), ("n", 3, 2), ("n", 2), ("n", 2),
         x=("real", "n", 3, 1), c=("real", "n", 2), h=("real", "n", 2)),
    case("lstm(3, projection: 2)", "it(x, length: l, h: h, reverse: true)",
         lambda v, x, l, h: lstm(v, x, l, h=h, reverse=True), ("n", 4, 2), ("n", 3), ("n", 2), x=X, l=("i32", "n"),
         h=("real", "n", 2)),
    case("lstm(2, projection: 1)", "it.step(x, c, h)", lambda v, x, c, h: lstm(v, x[:, None], c=c, h=h)[1:],
         ("n", 2), ("n", 1), x=("real", "n", 3), c=("real", "n", 2), h=("real", "n", 1)),
    case("gru(2)", "it(x, h: h, length: l, reverse: true)", lambda v, x, h, l: gru(v, x, l, h=h, reverse=True),
         (2, "n", 2), (2, 2), x=("real", 2, "n", 3), h=("real", 2, 2), l=("i32", 2)),
    case('gru(3, reset: "before")', "it(x, length: l)", gru, ("n", 4, 3), ("n", 3), x=X, l=("i32", "n")),
    case('gru(2, reset: "before")', "it.step(x, h)", lambda v, x, h: gru(v, x[:, None], h=h)[1], ("n", 2),
         x=("real", "n", 3), h=("real", "n", 2)),
    case("[lstm(2), lstm(3)]", "bidirectional(x, it, length: l)",
         lambda v, x, l: bidirectional(lstm, v, x, l), ("n", 4, 5), ("n", 5), x=X, l=("i32", "n")),
    case("[gru(2), gru(2)]", "bidirectional(x, it)", lambda v, x: bidirectional(gru, v, x), (2, "n", 4), (2, 4),
         x=("real", 2, "n", 3)),
]
