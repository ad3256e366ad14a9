"""Attention and what goes with it, head by head and step by step."""

import sys

import numpy as np
from onnx_case import Cases

cases = Cases(sys.argv[1])
random = np.random.default_rng(5)


def draw(*shape):
    return random.normal(size=shape).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend(q, k, v, mask=None, before=0, is_causal=False, softcap=0.0, scale=None, valid=None):
    """The outputs and the scores in the four stages of `qk_matmul_output_mode`."""
    batch, heads, rows, size = q.shape
    total, shared = k.shape[2], heads // k.shape[1]
    y = np.zeros((batch, heads, rows, v.shape[3]))
    stages = [np.zeros((batch, heads, rows, total)) for _ in range(4)]
    for b in range(batch):
        for h in range(heads):
            scores = q[b, h] @ k[b, h // shared].T * (scale or 1 / np.sqrt(size))
            stages[0][b, h] = scores
            if softcap:
                scores = softcap * np.tanh(scores / softcap)
            stages[1][b, h] = scores
            for i in range(rows):
                for j in range(total):
                    if mask is not None:
                        m = np.broadcast_to(mask, (batch, heads, rows, mask.shape[-1]))
                        outside = j >= mask.shape[-1]
                        if mask.dtype == bool:
                            scores[i, j] = scores[i, j] if not outside and m[b, h, i, j] else -np.inf
                        else:
                            scores[i, j] += -np.inf if outside else m[b, h, i, j]
                    if is_causal and j > i + before or valid is not None and j >= valid[b]:
                        scores[i, j] = -np.inf
            stages[2][b, h] = scores
            stages[3][b, h] = softmax(scores)
            y[b, h] = stages[3][b, h] @ v[b, h // shared]
    return y.astype(np.float32), [s.astype(np.float32) for s in stages]


q, k, v = draw(2, 4, 3, 6), draw(2, 2, 5, 6), draw(2, 2, 5, 7)
for attributes, options in (("", {}), ("is_causal=1", {"is_causal": True}), ("softcap=0.75", {"softcap": 0.75}),
                            ("scale=0.3", {"scale": 0.3})):
    cases.check(f"y = Attention q k v | {attributes}", {"q": q, "k": k, "v": v}, {"y": attend(q, k, v, **options)[0]},
                opset=23)
for mask in draw(3, 5), draw(2, 1, 3, 4), random.integers(0, 2, (3, 5)) + np.eye(3, 5) > 0:
    y, stages = attend(q, k, v, mask, softcap=2.0)
    for mode in range(4):
        cases.check(f"y, a, b, s = Attention q k v m | softcap=2.0 qk_matmul_output_mode={mode}",
                    {"q": q, "k": k, "v": v, "m": mask}, {"y": y, "s": stages[mode]}, opset=23)
old_k, old_v = draw(2, 2, 2, 6), draw(2, 2, 2, 7)
whole_k, whole_v = np.concatenate([old_k, k], 2), np.concatenate([old_v, v], 2)
cases.check("y, a, b = Attention q k v - ok ov | is_causal=1", {"q": q, "k": k, "v": v, "ok": old_k, "ov": old_v},
            {"y": attend(q, whole_k, whole_v, before=2, is_causal=True)[0], "a": whole_k, "b": whole_v}, opset=23)
valid = np.array([2, 5])
cases.check("y = Attention q k v - - - n", {"q": q, "k": k, "v": v, "n": valid}, {"y": attend(q, k, v, valid=valid)[0]},
            opset=24)


def packed(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


cases.check("y = Attention q k v | q_num_heads=4 kv_num_heads=2", {"q": packed(q), "k": packed(k), "v": packed(v)},
            {"y": packed(attend(q, k, v)[0])}, opset=23)

# Scores that a graph of the model changes.
double = "graph double\ninput s\nt = Add s s\noutput t\ngraph half\ninput w\ninit two f32[] 2\nu = Div w two\noutput u"
scores = np.einsum("bhid,bhjd->bhij", q, np.repeat(k, 2, 1)) / np.sqrt(6)
cases.check("y = ai.onnx.preview.FlexAttention q k v | score_mod=@double prob_mod=@half", {"q": q, "k": k, "v": v},
            {"y": (softmax(2 * scores) / 2 @ np.repeat(v, 2, 1)).astype(np.float32)}, before=double)


def rotate(x, angle):
    """Pairs [a, b] of the last axis turned by an angle."""
    a, b = x[..., 0], x[..., 1]
    return np.stack([np.cos(angle) * a - np.sin(angle) * b, np.sin(angle) * a + np.cos(angle) * b], -1)


x, angles, at = draw(2, 3, 4, 6), draw(10, 2), np.array([[0, 3, 9, 1], [5, 5, 2, 7]])
angle = angles[at][:, None]  # batch, heads, time, half
interleaved = np.concatenate([rotate(x[..., :4].reshape(2, 3, 4, 2, 2), angle).reshape(2, 3, 4, 4), x[..., 4:]], -1)
halves = rotate(np.stack([x[..., :2], x[..., 2:4]], -1), angle)
halves = np.concatenate([halves[..., 0], halves[..., 1], x[..., 4:]], -1)
feeds = {"x": x, "c": np.cos(angles), "s": np.sin(angles), "p": at}
cases.check("y = RotaryEmbedding x c s p | interleaved=1 rotary_embedding_dim=4", feeds, {"y": interleaved}, opset=23)
cases.check("y = RotaryEmbedding x c s p | rotary_embedding_dim=4", feeds, {"y": halves}, opset=23)
feeds = {"x": packed(x), "c": np.cos(angles[at]), "s": np.sin(angles[at])}
cases.check("y = RotaryEmbedding x c s | rotary_embedding_dim=4 num_heads=3", feeds, {"y": packed(halves)}, opset=23)

cache, update, start = draw(2, 3, 5, 2), draw(2, 3, 2, 2), np.array([1, 4])
for mode, starts in (("linear", np.array([1, 3])), ("circular", start)):
    y = cache.copy()
    for b in range(2):
        for i in range(2):
            y[b, :, (starts[b] + i) % 5] = update[b, :, i]
    cases.check(f'y = TensorScatter c u s | mode="{mode}"', {"c": cache, "u": update, "s": starts}, {"y": y}, opset=24)

x, w, bias, past = draw(2, 3, 5), draw(3, 1, 3), draw(3), draw(2, 3, 2)
whole = np.concatenate([past, x], 2)
y = np.stack([(whole[:, :, t:t + 3] * w[:, 0]).sum(2) for t in range(5)], 2) + bias[:, None]
cases.check('y, p = CausalConvWithState x w b s | activation="silu"', {"x": x, "w": w, "b": bias, "s": past},
            {"y": y / (1 + np.exp(-y)), "p": whole[:, :, 5:]}, opset=27)
y = np.stack([(np.pad(x, ((0, 0), (0, 0), (2, 0)))[:, :, t:t + 3] * w[:, 0]).sum(2) for t in range(5)], 2)
cases.check("y, p = CausalConvWithState x w", {"x": x, "w": w}, {"y": y, "p": x[:, :, 3:]}, opset=27)


def recur(q, k, v, state, decay, beta, rule):
    """LinearAttention on [rows, time, heads, size]."""
    rows, time, heads, _ = q.shape
    state, y = state.copy(), np.zeros((rows, time, heads, v.shape[3]), np.float32)
    for b in range(rows):
        for t in range(time):
            for h in range(k.shape[2]):
                if "gated" in rule:
                    state[b, h] *= np.exp(decay[b, t, h])[:, None]
                new = v[b, t, h]
                if "delta" in rule:
                    new = beta[b, t, h] * (new - state[b, h].T @ k[b, t, h])
                state[b, h] += np.outer(k[b, t, h], new)
            for h in range(heads):
                y[b, t, h] = q[b, t, h] @ state[b, h * k.shape[2] // heads] * 0.5
    return y, state


q, k, v, state = draw(2, 3, 4, 2), draw(2, 3, 2, 2), draw(2, 3, 2, 3), draw(2, 2, 2, 3)
decay, beta = draw(2, 3, 2, 2), draw(2, 3, 2)
for rule in "linear", "gated", "delta", "gated_delta":
    y, last = recur(q, k, v, state, decay, beta, rule)
    feeds = {"q": q.reshape(2, 3, 8), "k": k.reshape(2, 3, 4), "v": v.reshape(2, 3, 6), "s": state}
    if "gated" in rule:
        feeds["g"] = decay.reshape(2, 3, 4)
    if "delta" in rule:
        feeds["b"] = beta
    inputs = " ".join(name if name in feeds else "-" for name in "qkvsgb")
    cases.check(f'y, l = LinearAttention {inputs} | q_num_heads=4 kv_num_heads=2 scale=0.5 update_rule="{rule}"', feeds,
                {"y": y.reshape(2, 3, 12), "l": last}, opset=27)
cases.finish()
