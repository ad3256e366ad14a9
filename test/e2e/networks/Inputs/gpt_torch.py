"""gpt_torch.py: prints the losses and norms of gradients of the GPT of docs/examples/gpt in PyTorch, in f64.

    python gpt_torch.py > gpt.json      # PyTorch 2.15.0 made what is stored

Written from the definitions, with what PyTorch ships: layer_norm, gelu, AdamW, clip_grad_norm_. Of a table only
the rows that a step looks up change, as tfc has it; PyTorch's AdamW changes all.
"""

import json
import math

import setting
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
WIDTH, HEADS, BLOCKS = 128, 4, 3


def shapes():
    result = {"norm.scale": (WIDTH,), "norm.shift": (WIDTH,), "head.w": (WIDTH, 128), "head.b": (128,)}
    for i in range(3):
        result[f"embed.table.{i}.table"] = (128, WIDTH)
    for i in range(BLOCKS):
        for name, inputs, units in (
            ("attend.qkv", WIDTH, 3 * WIDTH),
            ("attend.out", WIDTH, WIDTH),
            ("up", WIDTH, 4 * WIDTH),
            ("down", 4 * WIDTH, WIDTH),
        ):
            result[f"stack.{i}.{name}.w"] = (inputs, units)
            result[f"stack.{i}.{name}.b"] = (units,)
        for name in "norm1", "norm2":
            result[f"stack.{i}.{name}.scale"] = result[f"stack.{i}.{name}.shift"] = (WIDTH,)
    return {"gpt.net." + name: shape for name, shape in result.items()}


weights = {
    name.removeprefix("gpt.net."): torch.tensor(value, dtype=torch.float64, requires_grad=True)
    for name, value in setting.initial_weights(shapes()).items()
}


def norm(x, name):
    return F.layer_norm(x, (WIDTH,), weights[name + ".scale"], weights[name + ".shift"])


def dense(x, name):
    return F.linear(x, weights[name + ".w"].T, weights[name + ".b"])


def attention(x, name):
    rows, time, _ = x.shape
    q, k, v = (
        part.reshape(rows, time, HEADS, WIDTH // HEADS).transpose(1, 2)
        for part in dense(x, name + ".qkv").chunk(3, dim=-1)
    )
    slope = 2.0 ** (-8.0 / HEADS * torch.arange(1, HEADS + 1))
    here = torch.arange(time)
    distance = here[:, None] - here[None, :]
    bias = torch.where(distance >= 0, -slope[:, None, None] * distance, -math.inf)
    mix = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    return dense(mix.transpose(1, 2).reshape(rows, time, WIDTH), name + ".out")


def lookups(tokens):
    """The rows that are read from each table: those of the characters, and of the two before each."""
    past = F.pad(tokens, (2, 0))
    return {f"embed.table.{i}.table": past[:, i : i + tokens.shape[1]] for i in range(3)}


def scores(tokens):
    x = sum(F.embedding(rows, weights[table]) for table, rows in lookups(tokens).items())
    for i in range(BLOCKS):
        block = f"stack.{i}"
        x = x + attention(norm(x, block + ".norm1"), block + ".attend")
        up = F.gelu(dense(norm(x, block + ".norm2"), block + ".up"), approximate="tanh")
        x = x + dense(up, block + ".down")
    return dense(norm(x, "norm"), "head")


def rate(step, peak=3e-3, ramp=10, steps=setting.STEPS, floor=1e-4):
    if step < ramp:
        return peak * (step + 1) / ramp
    return floor + (peak - floor) * (1 + math.cos(math.pi * (step - ramp) / (steps - ramp))) / 2


BETAS, EPSILON, DECAY = (0.9, 0.99), 1e-8, 0.3


class LazyRows:
    """AdamW that changes some rows of a table: the others keep what they have, moments included."""

    def __init__(self, table):
        self.table, self.steps = table, 0
        self.mean, self.square = torch.zeros_like(table), torch.zeros_like(table)

    @torch.no_grad()
    def step(self, rows, rate):
        self.steps += 1
        rows = rows.unique()
        grad = self.table.grad[rows]
        self.mean[rows] = BETAS[0] * self.mean[rows] + (1 - BETAS[0]) * grad
        self.square[rows] = BETAS[1] * self.square[rows] + (1 - BETAS[1]) * grad**2
        mean = self.mean[rows] / (1 - BETAS[0] ** self.steps)
        square = self.square[rows] / (1 - BETAS[1] ** self.steps)
        old = self.table[rows]
        self.table[rows] = old - rate * (mean / (square.sqrt() + EPSILON) + DECAY * old)


def train():
    tables = {name: LazyRows(w) for name, w in weights.items() if name.startswith("embed")}
    others = [w for name, w in weights.items() if name not in tables]
    optimizer = torch.optim.AdamW(
        [
            {"params": [w for w in others if w.dim() > 1], "weight_decay": DECAY},
            {"params": [w for w in others if w.dim() < 2], "weight_decay": 0.0},
        ],
        betas=BETAS,
        eps=EPSILON,
    )
    losses, norms = [], []
    for step, feeds in enumerate(setting.batches("gpt")):
        tokens = torch.tensor(feeds["tokens"], dtype=torch.long)
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        for weight in weights.values():
            weight.grad = None
        loss = F.cross_entropy(scores(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(weights.values(), 1.0).item())
        optimizer.step()
        for name, rows in lookups(tokens[:, :-1]).items():
            tables[name].step(rows, rate(step))
        losses.append(loss.item())
    return {"loss": losses, "norm": norms}


print(json.dumps({k: [round(x, 7) for x in v] for k, v in train().items()}, indent=1))
