"""Recurrent networks by the formulas of ONNX's specification, step by step."""

import sys

import numpy as np
from onnx_case import Cases

cases = Cases(sys.argv[1])
random = np.random.default_rng(3)


def draw(*shape):
    return random.normal(size=shape).astype(np.float32)


# By name: the defaults of alpha and beta, as far as there are any, and the function.
FUNCTIONS = {
    "Sigmoid": ([], lambda x: 1 / (1 + np.exp(-x))),
    "Tanh": ([], np.tanh),
    "Relu": ([], lambda x: np.maximum(x, 0)),
    "Softsign": ([], lambda x: x / (1 + np.abs(x))),
    "Softplus": ([], lambda x: np.log1p(np.exp(x))),
    "Affine": ([1.0, 0.0], lambda x, a, b: a * x + b),
    "ScaledTanh": ([1.0, 1.0], lambda x, a, b: a * np.tanh(b * x)),
    "HardSigmoid": ([0.2, 0.5], lambda x, a, b: np.clip(a * x + b, 0, 1)),
    "LeakyRelu": ([0.01], lambda x, a: np.where(x >= 0, x, a * x)),
    "ThresholdedRelu": ([1.0], lambda x, a: np.where(x >= a, x, 0)),
    "Elu": ([1.0], lambda x, a: np.where(x >= 0, x, a * np.expm1(x))),
}


def functions_of(names, alphas, betas):
    """The functions, which take their parameters from both lists in order."""
    lists, result = [list(alphas), list(betas)], []
    for name in names:
        defaults, function = FUNCTIONS[name]
        given = [lists[i].pop(0) if lists[i] else default for i, default in enumerate(defaults)]
        result.append(lambda x, function=function, given=given: function(x, *given))
    return result


def step_rnn(x, h, c, w, r, b, p, f, options):
    n = len(h[0])
    return f[0](options["clip"](x @ w.T + h @ r.T + b[:n] + b[n:])), c


def step_gru(x, h, c, w, r, b, p, f, options):
    clip, n = options["clip"], len(h[0])
    (wz, wr, wh), (rz, rr, rh), (bz, br, bh, cz, cr, ch) = np.split(w, 3), np.split(r, 3), np.split(b, 6)
    z = f[0](clip(x @ wz.T + h @ rz.T + bz + cz))
    reset = f[0](clip(x @ wr.T + h @ rr.T + br + cr))
    if options["linear_before_reset"]:
        new = f[1](clip(x @ wh.T + reset * (h @ rh.T + ch) + bh))
    else:
        new = f[1](clip(x @ wh.T + (reset * h) @ rh.T + ch + bh))
    return (1 - z) * new + z * h, c


def step_lstm(x, h, c, w, r, b, p, f, options):
    clip, n = options["clip"], len(h[0])
    i, o, e, j = np.split(x @ w.T + h @ r.T + b[:4 * n] + b[4 * n:], 4, axis=1)
    pi, po, pf = np.split(p, 3)
    i = f[0](clip(i + pi * c))
    e = 1 - i if options["input_forget"] else f[0](clip(e + pf * c))
    c = e * c + i * f[1](clip(j))
    return f[0](clip(o + po * c)) * f[2](c), c


def run(step, x, w, r, b, h, c, p, lengths, functions, direction, options):
    """The outputs [time, directions, rows, units] and the last states."""
    time, rows, _ = x.shape
    directions, _, units = r.shape
    y, per = np.zeros((time, directions, rows, units), np.float32), len(functions) // directions
    h, c = h.copy(), c.copy()
    for d in range(directions):
        is_back = direction == "reverse" or d == 1
        for row in range(rows):
            steps = range(lengths[row])
            for t in reversed(steps) if is_back else steps:
                at = slice(row, row + 1)
                h[d, at], c[d, at] = step(x[t, at], h[d, at], c[d, at], w[d], r[d], b[d], p[d],
                                          functions[d * per:(d + 1) * per], options)
                y[t, d, row] = h[d, row]
    return y, h, c


def text_of(name, value):
    if isinstance(value, str):
        return f'{name}="{value}"'
    if isinstance(value, list):
        return f"{name}=[{','.join(f'{chr(34)}{v}{chr(34)}' if isinstance(v, str) else str(v) for v in value)}]"
    return f"{name}={value}"


def check(op, direction="forward", activations=None, alphas=(), betas=(), clip=0.0, given="blhcp", time=4, layout=0,
          **attributes):
    gates, names, step = {"RNN": (1, ["Tanh"], step_rnn), "GRU": (3, ["Sigmoid", "Tanh"], step_gru),
                          "LSTM": (4, ["Sigmoid", "Tanh", "Tanh"], step_lstm)}[op]
    directions, rows, inputs, units = 2 if direction == "bidirectional" else 1, 3, 2, 2
    x, w, r = draw(time, rows, inputs), draw(directions, gates * units, inputs), draw(directions, gates * units, units)
    optional = {"b": draw(directions, 2 * gates * units), "l": random.integers(1, time + 1, rows).astype(np.int32),
                "h": draw(directions, rows, units), "c": draw(directions, rows, units), "p": draw(directions, 3 * units)}
    if op != "LSTM":
        given = given.replace("c", "").replace("p", "")
    used = {name: value if name in given else np.full_like(value, time if name == "l" else 0)
            for name, value in optional.items()}
    functions = functions_of(activations or names * directions, alphas, betas)
    options = {"clip": (lambda v: np.clip(v, -clip, clip)) if clip else lambda v: v,
               "linear_before_reset": 0, "input_forget": 0, **attributes}
    y, h, c = run(step, x, w, r, used["b"], used["h"], used["c"], used["p"], used["l"], functions, direction, options)
    feeds = {"x": x, "w": w, "r": r, **{name: optional[name] for name in given}}
    if layout:
        y, h, c = y.transpose(2, 0, 1, 3), h.transpose(1, 0, 2), c.transpose(1, 0, 2)
        feeds.update({name: feeds[name].swapaxes(0, 1) for name in "xhc" if name in feeds})
    written = dict(direction=direction, hidden_size=units, **attributes)
    for name, value in (("activations", activations), ("activation_alpha", list(alphas)),
                        ("activation_beta", list(betas)), ("clip", clip), ("layout", layout)):
        if value:
            written[name] = value
    inputs = " ".join(name if name in given + "xwr" else "-" for name in ("xwrblhcp" if op == "LSTM" else "xwrblh"))
    outputs = {"y": y, "h1": h, **({"c1": c} if op == "LSTM" else {})}
    node = f"{', '.join(outputs)} = {op} {inputs} | " + " ".join(text_of(*item) for item in written.items())
    cases.check(node, feeds, outputs)


for name, (defaults, _) in FUNCTIONS.items():
    check("RNN", activations=[name], given="b")
    if defaults:
        check("RNN", activations=[name], alphas=[0.75], betas=[0.375][:len(defaults) - 1], given="b")
# Functions without parameters are skipped where the lists are handed out.
check("LSTM", "bidirectional", ["HardSigmoid", "Tanh", "Elu", "Sigmoid", "Affine", "ScaledTanh"],
      alphas=[0.3, 0.5, 0.6, 0.8], betas=[0.4, 0.1, 0.7])
check("GRU", "bidirectional", ["Sigmoid", "LeakyRelu", "HardSigmoid", "Softsign"], alphas=[0.2, 0.25], betas=[0.55])
# Parameters that the lists lack have their defaults.
check("GRU", "forward", ["HardSigmoid", "LeakyRelu"], alphas=[0.3])
for op in "RNN", "GRU", "LSTM":
    for direction in "forward", "reverse", "bidirectional":
        check(op, direction, clip=0.5)
        check(op, direction, given="")
    check(op, "bidirectional", layout=1, given="bhc")
check("GRU", linear_before_reset=1)
check("LSTM", input_forget=1)
check("LSTM", input_forget=1, given="", clip=0.25)
cases.finish()
