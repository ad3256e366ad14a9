"""The parts of `use layers` in NumPy: references for the tables in this folder. `v` are a part's variables."""

import math

import numpy as np

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


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def picked(x, label):
    return -np.take_along_axis(log_softmax(x), label[..., None], -1)[..., 0]


def binary(x, target, positive):
    return -positive * target * np.log(sigmoid(x)) - (1 - target) * np.log(sigmoid(-x))


def layer_norm(v, x, name=""):
    return standard(x, -1, 1e-5) * v.get(name + "scale", 1) + v.get(name + "shift", 0)


def rms_norm(v, x, name=""):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * v.get(name + "scale", 1)


def group_norm(v, x, groups):
    y = x.reshape(x.shape[0], math.prod(x.shape[1:-1]), groups, x.shape[-1] // groups)
    return standard(y, (1, 3), 1e-5).reshape(x.shape) * v.get("scale", 1) + v.get("shift", 0)


def instance_norm(v, x):
    return standard(x, tuple(range(1, x.ndim - 1)), 1e-5) * v.get("scale", 1) + v.get("shift", 0)


def batch_norm(v, x):
    return standard(x, tuple(range(x.ndim - 1)), 1e-3) * v.get("scale", 1) + v.get("shift", 0)


def batch_norm_infer(v, x):
    return (x - v["average"]) / np.sqrt(v["variance"] + 1e-3) * v["scale"] + v["shift"]


def sinusoids(time, width):
    angle = np.arange(time)[:, None] / 10000.0 ** (np.arange(width // 2) * 2 / width)
    return np.concatenate([np.sin(angle), np.cos(angle)], 1)


def rotary(x, first=0, interleaved=False):
    half = x.shape[-1] // 2
    wave = sinusoids(first + x.shape[-2], x.shape[-1])[first:]
    sin, cos, a, b = wave[:, :half], wave[:, half:], x[..., :half], x[..., half:]
    if interleaved:
        y, a, b = np.empty(x.shape), x[..., ::2], x[..., 1::2]
        y[..., ::2], y[..., 1::2] = a * cos - b * sin, b * cos + a * sin
        return y
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def alibi(heads, time, keys, first=0):
    distance = np.abs(np.arange(keys) - first - np.arange(time)[:, None])
    return -distance * 2.0 ** (-8 * np.arange(1, heads + 1) / heads)[:, None, None]


def bag(table, index, weight=1.0, mode="sum"):
    live = (index >= 0).astype(float)
    total = (table[np.maximum(index, 0)] * (live * weight)[..., None]).sum(-2)
    return total if mode == "sum" else total / np.maximum(live.sum(-1, keepdims=True), 1)


def recurrent(step, x, length, states, reverse=False):
    """Runs `step(x_t, *states)` from `states`, arrays or zeros of a width; its output is the last state."""
    rows, time = x.shape[:2]
    states = [np.zeros((rows, s)) if isinstance(s, int) else s for s in states]
    outputs = [None] * time
    for t in reversed(range(time)) if reverse else range(time):
        after = step(x[:, t], *states)
        live = (t < np.broadcast_to(length, rows))[:, None]
        states = [np.where(live, new, old) for new, old in zip(after, states)]
        outputs[t] = np.where(live, after[-1], 0)
    return (np.stack(outputs, 1) if outputs else np.zeros((rows, 0, states[-1].shape[1])), *states)


def simple_rnn(v, x, length=1000, activation=np.tanh, h=None, **options):
    start = len(v["u"]) if h is None else h
    return recurrent(lambda x, h: [activation(dense(v, x) + h @ v["u"])], x, length, [start], **options)


def lstm(v, x, length=1000, c=None, h=None, **options):
    def step(x, c, h):
        i, j, f, o = np.split(dense(v, x) + h @ v["u"], 4, 1)
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
        h = sigmoid(o) * np.tanh(c)
        return c, h @ v["p"] if "p" in v else h

    start = [v["u"].shape[1] // 4 if c is None else c, len(v["u"]) if h is None else h]
    return recurrent(step, x, length, start, **options)


def gru(v, x, length=1000, h=None, **options):
    def step(x, h):
        (r, z, n), (hr, hz, hn) = np.split(dense(v, x), 3, 1), np.split(h @ v["u"], 3, 1)
        r, z = sigmoid(r + hr), sigmoid(z + hz)
        if "c" in v:
            n = np.tanh(n + r * (hn + v["c"]))
        else:
            n = np.tanh(n + (r * h) @ v["u"][:, 2 * h.shape[1]:])
        return [(1 - z) * n + z * h]

    return recurrent(step, x, length, [len(v["u"]) if h is None else h], **options)


def under(v, name):
    """The variables of a part that another part contains."""
    return {key.removeprefix(name): value for key, value in v.items() if key.startswith(name)}


def bidirectional(function, v, x, length=1000):
    there, back = function(under(v, "0."), x, length), function(under(v, "1."), x, length, reverse=True)
    return np.concatenate([there[0], back[0]], 2), np.concatenate([there[-1], back[-1]], 1)


def heads(x, count):
    return x.reshape(*x.shape[:2], count, x.shape[2] // count).swapaxes(1, 2)


def attend(q, k, v, valid=None, causal=False, bias=0):
    repeat = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, repeat, 1), np.repeat(v, repeat, 1)
    score = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]) + bias
    if valid is not None:
        shape = {2: (slice(None), None, None), 3: (slice(None), None), 4: ()}[valid.ndim]
        score = np.where(valid[shape], score, -1e9)
    if causal:
        score = np.where(np.tri(*score.shape[-2:], dtype=bool), score, -np.inf)
    return softmax(score) @ v


def joined(x):
    return x.swapaxes(1, 2).reshape(len(x), x.shape[2], x.shape[1] * x.shape[3])


def attention(v, x, count, valid=None, causal=False, name="", shared=0, turned=False, bias=0):
    width, groups = x.shape[2] // count, shared or count
    cuts = [count * width, (count + groups) * width]
    q, k, w = np.split(dense(v, x, name + "qkv."), cuts, -1)
    q, k, w = heads(q, count), heads(k, groups), heads(w, groups)
    if turned:
        q, k = rotary(q), rotary(k)
    return dense(v, joined(attend(q, k, w, valid, causal, bias)), name + "proj.")


def attention_step(v, x, keys, values, at, count, groups, valid=None, name="", turned=False, bias=0):
    width = x.shape[2] // count
    q, k, w = np.split(dense(v, x, name + "qkv."), [count * width, (count + groups) * width], -1)
    q, k, w = heads(q, count), heads(k, groups), heads(w, groups)
    if turned:
        q, k = rotary(q, at), rotary(k, at)
    rows = at + np.arange(x.shape[1])
    keys, values = keys.copy(), values.copy()
    keys[rows], values[rows] = k.transpose(2, 0, 1, 3), w.transpose(2, 0, 1, 3)
    seen = (np.arange(len(keys)) <= rows[:, None])[None, None]
    if valid is not None:
        seen = seen & valid[:, None, None]
    mixed = attend(q, keys.transpose(1, 2, 0, 3), values.transpose(1, 2, 0, 3), seen, bias=bias)
    return dense(v, joined(mixed), name + "proj."), keys, values


def cross_attention(v, x, memory, count, valid=None, name=""):
    q = heads(dense(v, x, name + "query."), count)
    k, w = [heads(part, count) for part in np.split(dense(v, memory, name + "kv."), 2, -1)]
    return dense(v, joined(attend(q, k, w, valid)), name + "proj.")


def feed_forward(v, x, name=""):
    if name + "gate.w" in v:
        gate = dense(v, x, name + "gate.")
        return dense(v, gate * sigmoid(gate) * dense(v, x, name + "up."), name + "down.")
    return dense(v, gelu(dense(v, x, name + "up.")), name + "down.")


def transformer_block(v, x, count, valid=None, causal=False, norm=layer_norm, norm_first=True, **options):
    def attend(x):
        return attention(v, x, count, valid, causal, "attn.", **options)

    if not norm_first:
        x = norm(v, x + attend(x), "ln1.")
        return norm(v, x + feed_forward(v, x, "mlp."), "ln2.")
    x = x + attend(norm(v, x, "ln1."))
    return x + feed_forward(v, norm(v, x, "ln2."), "mlp.")


def block_step(v, x, keys, values, at, count, norm_first=True):
    a, keys, values = attention_step(v, layer_norm(v, x, "ln1.") if norm_first else x, keys, values, at, count, count,
                                     name="attn.")
    if not norm_first:
        x = layer_norm(v, x + a, "ln1.")
        return layer_norm(v, x + feed_forward(v, x, "mlp."), "ln2."), keys, values
    x = x + a
    return x + feed_forward(v, layer_norm(v, x, "ln2."), "mlp."), keys, values


def decoder_block(v, x, memory, count, valid=None, norm_first=True):
    steps = [lambda x: attention(v, x, count, None, True, "attn."),
             lambda x: cross_attention(v, x, memory, count, valid, "cross."),
             lambda x: feed_forward(v, x, "mlp.")]
    for index, step in enumerate(steps):
        name = f"ln{index + 1}."
        x = x + step(layer_norm(v, x, name)) if norm_first else layer_norm(v, x + step(x), name)
    return x


def adaptive(x, axis, count):
    size = x.shape[axis]
    parts = [x.take(range(i * size // count, -(-(i + 1) * size // count)), axis).mean(axis) for i in range(count)]
    return np.stack(parts, axis)


def unpool(x, index, *sizes):
    y = np.zeros((len(x), math.prod(sizes), x.shape[-1]))
    for n, *place, c in np.ndindex(x.shape):
        if index[(n, *place, c)] >= 0:
            y[n, index[(n, *place, c)], c] = x[(n, *place, c)]
    return y.reshape(len(x), *sizes, x.shape[-1])
