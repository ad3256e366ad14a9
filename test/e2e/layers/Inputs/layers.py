"""layers.py LIBRARY.graph FOLDER [windows]: checks the parts of a library file against NumPy, and the gradients
of their operands and variables against central differences.

CASES lists them, WINDOWS those of windows: an instance, a call of it, and the function that NumPy computes of
the variables and operands. The graph is made twice: in f32 with the file as it is, in f64 with another one,
where all f32 are f64.
"""

import math
import os
import subprocess
import sys

import numpy as np

for folder in ("Inputs", "operations/Inputs"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", folder))

from agree import difference
from model import Model
from windows import convolution, convolution_transpose

erf = np.vectorize(math.erf, otypes="d")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True, initial=-1e30))
    return e / e.sum(-1, keepdims=True)


def standard(x, axis, epsilon):
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + epsilon)


def dense(v, x, name=""):
    return x @ v[name + "w"] + (v[name + "b"] if name + "b" in v else 0)


def convolve(function, **options):
    return lambda v, x: function(x, v["w"], **options) + v.get("b", 0)


def layer_norm(v, x, name=""):
    return standard(x, -1, 1e-5) * v[name + "scale"] + v[name + "shift"]


def rms_norm(v, x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * v["scale"]


def group_norm(v, x, groups):
    y = x.reshape(x.shape[0], math.prod(x.shape[1:-1]), groups, x.shape[-1] // groups)
    return standard(y, (1, 3), 1e-5).reshape(x.shape) * v["scale"] + v["shift"]


def instance_norm(v, x):
    return standard(x, tuple(range(1, x.ndim - 1)), 1e-5) * v["scale"] + v["shift"]


def batch_norm(v, x):
    return standard(x, tuple(range(x.ndim - 1)), 1e-3) * v["scale"] + v["shift"]


def batch_norm_infer(v, x):
    return (x - v["average"]) / np.sqrt(v["variance"] + 1e-3) * v["scale"] + v["shift"]


def sinusoids(time, width):
    angle = np.arange(time)[:, None] / 10000.0 ** (np.arange(width // 2) * 2 / width)
    return np.concatenate([np.sin(angle), np.cos(angle)], 1)


def rotary(x, first=0):
    half = x.shape[-1] // 2
    wave = sinusoids(first + x.shape[-2], x.shape[-1])[first:]
    sin, cos, a, b = wave[:, :half], wave[:, half:], x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def recurrent(step, x, length, states):
    """Runs `step(x_t, *states)`; its last state is what it gives."""
    states, outputs = [np.zeros((len(x), states[1])) for _ in range(states[0])], []
    for t in range(x.shape[1]):
        after = step(x[:, t], *states)
        live = (t < np.broadcast_to(length, len(x)))[:, None]
        states = [np.where(live, new, old) for new, old in zip(after, states)]
        outputs.append(np.where(live, after[-1], 0))
    return (np.stack(outputs, 1) if outputs else np.zeros((len(x), 0, states[0].shape[1])), *states)


def simple_rnn(v, x, length=1000, activation=np.tanh):
    return recurrent(lambda x, h: [activation(dense(v, x) + h @ v["u"])], x, length, (1, len(v["u"])))


def lstm(v, x, length=1000):
    def step(x, c, h):
        i, j, f, o = np.split(dense(v, x) + h @ v["u"], 4, 1)
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
        return c, sigmoid(o) * np.tanh(c)

    return recurrent(step, x, length, (2, len(v["u"])))


def gru(v, x, length=1000):
    def step(x, h):
        (r, z, n), (hr, hz, hn) = np.split(dense(v, x), 3, 1), np.split(h @ v["u"], 3, 1)
        z = sigmoid(z + hz)
        return [(1 - z) * np.tanh(n + sigmoid(r + hr) * (hn + v["c"])) + z * h]

    return recurrent(step, x, length, (1, len(v["u"])))


def heads(x, count):
    return x.reshape(*x.shape[:2], count, x.shape[2] // count).swapaxes(1, 2)


def attend(q, k, v, valid=None, causal=False):
    score = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if valid is not None:
        score = np.where(valid[:, None, None], score, -1e9)
    if causal:
        score = np.where(np.tri(*score.shape[-2:], dtype=bool), score, -np.inf)
    mixed = softmax(score) @ v
    return mixed.swapaxes(1, 2).reshape(len(q), q.shape[2], q.shape[1] * v.shape[3])


def attention(v, x, count, valid=None, causal=False, name=""):
    parts = [heads(part, count) for part in np.split(dense(v, x, name + "qkv."), 3, -1)]
    return dense(v, attend(*parts, valid, causal), name + "proj.")


def cross_attention(v, x, memory, count, valid=None, name=""):
    q = heads(dense(v, x, name + "query."), count)
    k, w = [heads(part, count) for part in np.split(dense(v, memory, name + "kv."), 2, -1)]
    return dense(v, attend(q, k, w, valid), name + "proj.")


def feed_forward(v, x, name=""):
    return dense(v, gelu(dense(v, x, name + "up.")), name + "down.")


def transformer_block(v, x, count, valid=None, causal=False):
    x = x + attention(v, layer_norm(v, x, "ln1."), count, valid, causal, "attn.")
    return x + feed_forward(v, layer_norm(v, x, "ln2."), "mlp.")


def decoder_block(v, x, memory, count, valid=None):
    x = x + attention(v, layer_norm(v, x, "ln1."), count, None, True, "attn.")
    x = x + cross_attention(v, layer_norm(v, x, "ln2."), memory, count, valid, "cross.")
    return x + feed_forward(v, layer_norm(v, x, "ln3."), "mlp.")


class Case:
    """`results` are the shapes of what the call gives."""

    def __init__(self, instance, call, function, *results, **operands):
        self.part, self.instance, self.call = instance.split("(")[0], instance, call
        self.function, self.results, self.operands = function, results, operands

    def sample(self, random, n, real):
        def draw(shape):
            kind, *sizes = shape
            sizes = [n if size == "n" else size for size in sizes]
            if kind == "bool":
                return random.random(sizes) < 0.7
            if kind == "i32":
                return random.integers(0, 5, sizes).astype(np.int32)
            return random.normal(size=sizes).astype(real)

        return {name: draw(shape) for name, shape in self.operands.items()}


def case(*arguments, **operands):
    return Case(*arguments, **operands)


SHAPE = ("n", 4, 6)
X, VALID = ("real", *SHAPE), ("bool", "n", 4)
CASES = [
    case("dense(3)", "it(x)", dense, ("n", 4, 3), x=X),
    case("dense(3, bias: false)", "it(x)", dense, ("n", 3), x=("real", "n", 5)),
    case("embedding(5, 3)", "it(i)", lambda v, i: v["table"][i], ("n", 2, 3), i=("i32", "n", 2)),
    case("embedding(5, 6)", "it.attend(x)", lambda v, x: x @ v["table"].T, ("n", 4, 5), x=X),
    case("layer_norm()", "it(x)", layer_norm, SHAPE, x=X),
    case("layer_norm()", "it(x)", layer_norm, ("n", 1), x=("real", "n", 1)),
    case("rms_norm()", "it(x)", rms_norm, SHAPE, x=X),
    case("group_norm(3)", "it(x)", lambda v, x: group_norm(v, x, 3), ("n", 2, 2, 6), x=("real", "n", 2, 2, 6)),
    case("group_norm(2)", "it(x)", lambda v, x: group_norm(v, x, 2), (3, "n", 4), x=("real", 3, "n", 4)),
    case("group_norm(1)", "it(x)", lambda v, x: group_norm(v, x, 1), ("n", 4), x=("real", "n", 4)),
    case("instance_norm()", "it(x)", instance_norm, ("n", 4, 2), x=("real", "n", 4, 2)),
    case("instance_norm()", "it(x)", instance_norm, (2, "n", 2, 3), x=("real", 2, "n", 2, 3)),
    case("batch_norm()", "it(x, train: true)", batch_norm, ("n", 3), x=("real", "n", 3)),
    case("batch_norm()", "it(x, train: true)", batch_norm, ("n", 2, 3), x=("real", "n", 2, 3)),
    case("batch_norm()", "it(x, train: true)", batch_norm, (2, "n", 2, 3), x=("real", 2, "n", 2, 3)),
    case("batch_norm()", "it(x, train: true)", batch_norm, (2, 2, "n", 2, 3), x=("real", 2, 2, "n", 2, 3)),
    case("batch_norm()", "it(x, train: false)", batch_norm_infer, ("n", 2, 3), x=("real", "n", 2, 3)),
    case("positions(9)", "it(x)", lambda v, x: x + v["table"][: x.shape[-2]], (2, "n", 4), x=("real", 2, "n", 4)),
    case("", "x + sinusoids({T}[n, 6])", lambda v, x: x + sinusoids(len(x), 6), ("n", 6), x=("real", "n", 6)),
    case("", "rotary(x)", lambda v, x: rotary(x), (2, "n", 6), x=("real", 2, "n", 6)),
    case("", "rotary(x, first: 7)", lambda v, x: rotary(x, 7), ("n", 2, 2, 4), x=("real", "n", 2, 2, 4)),
    case("", "dropout(x, rate: 0.5, train: false)", lambda v, x: x, SHAPE, x=X),
    case("simple_rnn(3)", "it(x)", simple_rnn, ("n", 4, 3), ("n", 3), x=X),
    case("simple_rnn(3, activation: relu)", "it(x, length: l)",
         lambda v, x, l: simple_rnn(v, x, l, lambda x: np.maximum(x, 0)), ("n", 4, 3), ("n", 3), x=X, l=("i32", "n")),
    case("simple_rnn(3)", "it.step(x, h)", lambda v, x, h: np.tanh(dense(v, x) + h @ v["u"]), ("n", 3),
         x=("real", "n", 2), h=("real", "n", 3)),
    case("lstm(3)", "it(x)", lstm, ("n", 4, 3), ("n", 3), ("n", 3), x=X),
    case("lstm(2)", "it(x, length: l)", lstm, (2, "n", 2), (2, 2), (2, 2), x=("real", 2, "n", 3), l=("i32", 2)),
    case("gru(3)", "it(x)", gru, ("n", 4, 3), ("n", 3), x=X),
    case("gru(2)", "it(x, length: l)", gru, (2, "n", 2), (2, 2), x=("real", 2, "n", 3), l=("i32", 2)),
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
    case("transformer_block(2, hidden: 5)", "it(x, valid: m)",
         lambda v, x, m: transformer_block(v, x, 2, m), SHAPE, x=X, m=VALID),
    case("transformer_block(2, hidden: 5, causal: true)", "it(x)",
         lambda v, x: transformer_block(v, x, 2, causal=True), (2, "n", 4), x=("real", 2, "n", 4)),
    case("decoder_block(2, hidden: 5)", "it(x, y, valid: m)",
         lambda v, x, y, m: decoder_block(v, x, y, 2, m), SHAPE, x=X, y=("real", "n", 3, 4),
         m=("bool", "n", 3)),
]
WINDOWS = [
    case('conv1d(4, padding: "same", dilation: 2)', "it(x)", convolve(convolution, padding="same", dilation=2),
         (2, "n", 4), x=("real", 2, "n", 3)),
    case("conv2d(3, size: 2, stride: 2)", "it(x)", convolve(convolution, stride=2), ("n", 2, 1, 3),
         x=("real", "n", 4, 3, 2)),
    case('conv2d(4, padding: "same", groups: 2, bias: false)', "it(x)",
         convolve(convolution, padding="same", groups=2), ("n", 3, 3, 4), x=("real", "n", 3, 3, 2)),
    case("conv3d(2, size: 2)", "it(x)", convolve(convolution), ("n", 1, 2, 1, 2), x=("real", "n", 2, 3, 2, 1)),
    case('conv2d_transpose(2, stride: 2, padding: "same")', "it(x)",
         convolve(convolution_transpose, stride=2, padding="same"), ("n", 4, 6, 2), x=("real", "n", 2, 3, 3)),
    case("conv2d_transpose(2, size: 2, stride: 2, output_padding: 1)", "it(x)",
         convolve(convolution_transpose, stride=2, output_padding=1), ("n", 5, 7, 2), x=("real", "n", 2, 3, 3)),
    case('depthwise_conv2d(multiplier: 2, padding: "same")', "it(x)",
         convolve(convolution, padding="same", groups=3), ("n", 3, 3, 6), x=("real", "n", 3, 3, 3)),
    case("", "global_avg_pool(x)", lambda v, x: x.mean((1, 2)), ("n", 4), x=("real", "n", 2, 3, 4)),
    case("", "global_max_pool(x)", lambda v, x: x.max(1), ("n", 4), x=("real", "n", 3, 4)),
]
# Where a size of 0 has no result: a part divides by it, or its mean is over nothing.
NOT_EMPTY = {"batch_norm", "instance_norm", "group_norm"}


def entry(name, feeds, body, results):
    takes = ", ".join(f"{feed}: {kind}" for feed, kind in feeds.items())
    gives = ", ".join(f"r{i}: {kind}" for i, (_, kind) in enumerate(results))
    lines = "".join(f"  {line}\n" for line in [*body, "return " + ", ".join(v for v, _ in results)])
    return f"\nentry {name}({takes}) -> ({gives}) {{\n{lines}}}\n"


def tensor_type(kind, sizes, real):
    dtype = real if kind == "real" else kind
    return f"{dtype}[{', '.join(map(str, sizes))}]" if len(sizes) else dtype


def graph(cases, real):
    """The text: an entry for the values of each case, and in f64 one for the gradients."""
    functions = {"sinusoids", "rotary", "dropout", "global_avg_pool", "global_max_pool"}
    names = sorted({one.part for one in cases if one.part} | functions)
    text = f'graph cases\nuse "library-{real}.graph": {", ".join(names)}\n'
    for index, one in enumerate(cases):
        if one.part:
            text += f"let p{index} = {one.instance}\n"
        feeds = {k: tensor_type(s[0], s[1:], real) for k, s in one.operands.items()}
        names = [f"y{i}" for i in range(len(one.results))]
        call = one.call.replace("it", f"p{index}", 1) if one.part else one.call.replace("{T}", real)
        statement = f"{', '.join(names)} = {call}"
        types = [tensor_type("real", shape, real) for shape in one.results]
        text += entry(f"value_{index}", feeds, [statement], list(zip(names, types)))
        if real == "f64":
            text += gradient_entry(index, one, feeds, statement, types[0])
    return text


def gradient_entry(index, one, feeds, statement, result):
    """The loss, the gradients of operands, and those of variables, which are subtracted from these."""
    operands = [k for k, s in one.operands.items() if s[0] == "real"]
    body = [statement, "loss = sum(y0 * weight)"]
    results = [("loss", "f64"), *[(f"slope_{k}", feeds[k]) for k in operands]]
    body += [f"slope_{k} = gradients(loss, {k})" for k in operands]
    feeds = {**feeds, "weight": result, "step": "f64"}
    if one.part:
        body += ["let vars = trainable(loss)", "static for v, g in zip(vars, gradients(loss, vars)) {",
                 "  update(v, g, touched(v, g) + step * values(g))", "}"]
    return entry(f"gradient_{index}", feeds, body, results)


def randomise(model, prefix, random):
    """The variables behind `prefix`, drawn anew."""
    values = {}
    for name in [n for n in model.variables if n.startswith(prefix)]:
        value = random.normal(size=model[name].shape) * 0.5
        model[name] = np.abs(value) + 0.2 if name.endswith("variance") else value
        values[name.removeprefix(prefix)] = model[name].astype(np.float64)
    return values


def check_values(model, index, one, random, real):
    for n in (1, 3) if one.part in NOT_EMPTY else (0, 1, 3):
        values = randomise(model, f"p{index}.", random)
        feeds = one.sample(random, n, real)
        with np.errstate(all="ignore"):
            expected = one.function(values, *feeds.values())
        expected = expected if isinstance(expected, tuple) else (expected,)
        # The library gives the state behind y; the function's last state is what y has at the end.
        for at, (got, want) in enumerate(zip(model.call(f"value_{index}", **feeds), expected)):
            wrong = difference(got, want.astype(real), 2e-4 if real is np.float32 else 1e-10)
            if wrong:
                yield f"{np.dtype(real)}, n = {n}, result {at} {wrong}"


def check_gradients(model, index, one, random):
    for n in (1, 3):
        values = randomise(model, f"p{index}.", random)
        feeds = one.sample(random, n, np.float64)
        shape = np.shape(model.call(f"value_{index}", **feeds)[0])
        start = {f"p{index}.{name}": value for name, value in values.items()}
        feeds.update(weight=random.normal(size=shape), step=np.float64(0))

        def loss(feeds, variables, step=0.0):
            for name, value in {**start, **variables}.items():
                model[name] = value
            return model.call(f"gradient_{index}", **{**feeds, "step": np.float64(step)})

        operands = [k for k, s in one.operands.items() if s[0] == "real"]
        slopes = dict(zip(operands, loss(feeds, {}, 1.0)[1:]))
        steps = {name: model[name] - value for name, value in start.items()}
        for name, value in {**{k: feeds[k] for k in operands}, **start}.items():
            if name.endswith(("average", ".variance")):
                continue
            direction = random.normal(size=value.shape)
            around = []
            for sign in 1, -1:
                moved = {name: value + sign * 1e-5 * direction}
                around.append(float((loss({**feeds, **moved}, {}) if name in feeds else loss(feeds, moved))[0]))
            slope = float((slopes[name] if name in feeds else steps[name]).ravel() @ direction.ravel())
            expected = (around[0] - around[1]) / 2e-5
            if not abs(slope - expected) <= 1e-6 * max(1.0, abs(expected)):
                yield f"n = {n}: the slope of {name} is {slope}, by differences {expected}"


def main():
    library, folder = sys.argv[1:3]
    cases = WINDOWS if sys.argv[3:] == ["windows"] else CASES
    os.makedirs(folder, exist_ok=True)
    with open(library, encoding="utf-8") as file:
        text = file.read()
    wrong = 0
    for real, dtype in ("f32", np.float32), ("f64", np.float64):
        with open(f"{folder}/library-{real}.graph", "w", encoding="utf-8") as file:
            file.write(text.replace("f32", real))
        with open(f"{folder}/{real}.graph", "w", encoding="utf-8") as file:
            file.write(graph(cases, real))
        if subprocess.run(["tfc", "compile", f"{folder}/{real}.graph", "-o", f"{folder}/{real}.so"]).returncode:
            return 1
        model = Model(f"{folder}/{real}.so")
        for index, one in enumerate(cases):
            random = np.random.default_rng(index)
            found = list(check_values(model, index, one, random, dtype))
            if real == "f64":
                found += check_gradients(model, index, one, random)
            for what in found:
                wrong += 1
                print(f"{one.instance or one.call} (case {index}): {what}")
    print(f"{len(cases)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
