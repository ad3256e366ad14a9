"""Seven optimizers in plain NumPy, on the network of docs/examples/digits: the reference of those
that tfc ships as graph source (`use optimizers`).

    reference.py               prints the losses of every run after 100 steps, in f64 and f32
    reference.py MODEL.so f64  compares a compiled curves.graph with it, step by step

The contract. For a variable w with gradient g of the loss, learning rate r and slots that start at 0
where nothing else is said:

    clip_value = c    g <- min(max(g, -c), c), elementwise, before anything else
    clip_norm = c     norm = sqrt(sum over all variables of sum(g * g)), in the order of declaration
                      g <- g * min(1, c / max(norm, 1e-12)); the optimizer returns this norm
    weight_decay = d  only for variables of rank 2 or more
                      adam, adamw: decoupled, w <- w - r * d * w beside the step, by the old w
                      all others:  coupled (L2), g <- g + d * w, after clipping

    sgd       w <- w - r * g
    momentum  v <- mu * v + g;  w <- w - r * v                     mu = 0.9
    nesterov  v <- mu * v + g;  w <- w - r * (g + mu * v)          mu = 0.9
    adagrad   s <- s + g * g;   w <- w - r * g / (sqrt(s) + eps)   s starts at 0.1, eps = 1e-8
    rmsprop   s <- rho * s + (1 - rho) * g * g
              w <- w - r * g / (sqrt(s) + eps)                     rho = 0.9, eps = 1e-8
    adam      t <- t + 1                                           t is an i64, one per optimizer
              m <- b1 * m + (1 - b1) * g                           b1 = 0.9
              s <- b2 * s + (1 - b2) * g * g                       b2 = 0.999
              w <- w - r * (m / (1 - b1 ** t)) / (sqrt(s / (1 - b2 ** t)) + eps)    eps = 1e-8
    adamw     adam with weight_decay = 0.01 unless told otherwise

Schedules are functions of the number t of steps already done (0 at the first step), a scalar of the
same float type as the rate:

    a constant is a number
    warmup(t, rate, steps)                  rate * min(1, (t + 1) / steps)
    cosine(t, rate, steps, floor = 0)       floor + (rate - floor)
                                                    * (1 + cos(pi * min(t, steps) / steps)) / 2
    warmup_cosine(t, rate, ramp, steps, floor = 0)
                                            rate * (t + 1) / ramp while t < ramp, then
                                            cosine(t - ramp, rate, steps - ramp, floor)
"""

import math
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DIGITS = os.path.join(HERE, "..", "..", "..", "docs", "examples", "digits", "digits.csv")
STEPS, BATCH = 100, 64
# Relative and absolute tolerance: two correct implementations differ by rounding, as the loss does.
TOLERANCE = {"f64": 1e-9, "f32": 1e-4}


def clip_and_decay(
    gradients, weights, kind, clip_value=math.inf, clip_norm=math.inf, weight_decay=0.0
):
    """Gradients as update rules receive them; the contract's first block."""
    gradients = [np.clip(g, -clip_value, clip_value) for g in gradients]
    norm = np.sqrt(sum((g * g).sum() for g in gradients))
    scale = kind(min(1.0, clip_norm / max(norm, 1e-12)))
    return [
        scale * g + kind(weight_decay if w.ndim > 1 else 0.0) * w
        for g, w in zip(gradients, weights)
    ]


class Optimizer:
    def __init__(self, weights, **options):
        self.kind = weights[0].dtype.type
        self.options = options
        self.start(weights)

    def start(self, weights):
        self.slot = [np.zeros_like(w) for w in weights]

    def step(self, weights, gradients, rate):
        """New weights after one step."""
        gradients = clip_and_decay(gradients, weights, self.kind, **self.options)
        return [
            w - self.kind(rate) * self.direction(i, g)
            for i, (w, g) in enumerate(zip(weights, gradients))
        ]


class Sgd(Optimizer):
    def direction(self, i, g):
        return g


class Momentum(Optimizer):
    mu = 0.9

    def direction(self, i, g):
        self.slot[i] = self.kind(self.mu) * self.slot[i] + g
        return self.slot[i]


class Nesterov(Momentum):
    def direction(self, i, g):
        return g + self.kind(self.mu) * super().direction(i, g)


class AdaGrad(Optimizer):
    def start(self, weights):
        self.slot = [np.full_like(w, 0.1) for w in weights]

    def direction(self, i, g):
        self.slot[i] = self.slot[i] + g * g
        return g / (np.sqrt(self.slot[i]) + self.kind(1e-8))


class RmsProp(Optimizer):
    rho = 0.9

    def direction(self, i, g):
        self.slot[i] = self.kind(self.rho) * self.slot[i] + self.kind(1 - self.rho) * (g * g)
        return g / (np.sqrt(self.slot[i]) + self.kind(1e-8))


class Adam(Optimizer):
    beta1, beta2, weight_decay = 0.9, 0.999, 0.0

    def __init__(self, weights, weight_decay=None, **options):
        super().__init__(weights, **options)
        if weight_decay is not None:
            self.weight_decay = weight_decay

    def start(self, weights):
        self.t = 0
        self.m = [np.zeros_like(w) for w in weights]
        self.s = [np.zeros_like(w) for w in weights]

    def step(self, weights, gradients, rate):
        self.t += 1
        gradients = clip_and_decay(gradients, weights, self.kind, **self.options)
        return [
            w - self.kind(rate) * (self.direction(i, g) + self.decay(w))
            for i, (w, g) in enumerate(zip(weights, gradients))
        ]

    def decay(self, w):
        return self.kind(self.weight_decay) * w if w.ndim > 1 else self.kind(0)

    def direction(self, i, g):
        kind = self.kind
        self.m[i] = kind(self.beta1) * self.m[i] + kind(1 - self.beta1) * g
        self.s[i] = kind(self.beta2) * self.s[i] + kind(1 - self.beta2) * (g * g)
        m = self.m[i] / kind(1 - self.beta1**self.t)  # f64 up to here, in f32 too
        s = self.s[i] / kind(1 - self.beta2**self.t)
        return m / (np.sqrt(s) + kind(1e-8))


class AdamW(Adam):
    weight_decay = 0.01


def constant(rate):
    return lambda t: rate


def warmup(rate, steps):
    return lambda t: rate * min(1.0, (t + 1) / steps)


def cosine(rate, steps, floor=0.0):
    return lambda t: floor + (rate - floor) * (1 + math.cos(math.pi * min(t, steps) / steps)) / 2


def warmup_cosine(rate, ramp, steps, floor=0.0):
    after = cosine(rate, steps - ramp, floor)
    return lambda t: warmup(rate, ramp)(t) if t < ramp else after(t - ramp)


# Entry of curves.graph -> optimizer, options, schedule.
RUNS = {
    "train_sgd": (Sgd, {}, constant(0.1)),
    "train_sgd_decay": (Sgd, dict(weight_decay=0.01), constant(0.1)),
    "train_sgd_clip_value": (Sgd, dict(clip_value=0.005), constant(0.5)),
    "train_sgd_clip_norm": (Sgd, dict(clip_norm=0.5), constant(0.2)),
    "train_momentum": (Momentum, {}, constant(0.02)),
    "train_nesterov": (Nesterov, {}, constant(0.02)),
    "train_adagrad": (AdaGrad, {}, constant(0.02)),
    "train_rmsprop": (RmsProp, {}, constant(1e-3)),
    "train_adam": (Adam, {}, constant(1e-3)),
    "train_adam_clip": (Adam, dict(clip_norm=0.1, clip_value=0.05), constant(1e-3)),
    "train_adamw": (AdamW, {}, constant(2e-3)),
    "train_adamw_decay": (AdamW, dict(weight_decay=0.1), constant(2e-3)),
    "train_warmup": (Adam, {}, warmup(2e-3, 20)),
    "train_cosine": (Adam, {}, cosine(2e-3, 80, floor=1e-4)),
    "train_warmup_cosine": (Momentum, {}, warmup_cosine(0.05, 10, 100)),
}


def initial_weights(dtype):
    """w1, b1, w2, b2: drawn in f64, so that both types start from the same numbers."""
    random = np.random.default_rng(20)
    shapes = [(64, 128), (128,), (128, 10), (10,)]
    limits = [math.sqrt(6 / (64 + 128)), 0.01, math.sqrt(6 / (128 + 10)), 0.01]
    return [
        random.uniform(-l, l, s).astype(np.float32).astype(dtype) for l, s in zip(limits, shapes)
    ]


def batches(dtype):
    rows = np.loadtxt(DIGITS, delimiter=",", skiprows=1)
    rows = rows[np.random.default_rng(21).permutation(len(rows))]
    for step in range(STEPS):
        batch = rows[(np.arange(BATCH) + step * BATCH) % len(rows)]
        yield batch[:, :64].astype(dtype), batch[:, 64].astype(np.int32)


def loss_and_gradients(weights, x, label):
    w1, b1, w2, b2 = weights
    kind = w1.dtype.type
    rows = np.arange(len(x))
    scaled = x / kind(16)
    before = scaled @ w1 + b1
    hidden = np.maximum(before, kind(0))
    logits = hidden @ w2 + b2
    shifted = logits - logits.max(axis=1, keepdims=True)
    logarithm = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = (logarithm[:, 0] - shifted[rows, label]).mean()
    error = np.exp(shifted - logarithm)
    error[rows, label] -= kind(1)
    error = error / kind(len(x))
    behind = (error @ w2.T) * (before > 0)
    return loss, [scaled.T @ behind, behind.sum(axis=0), hidden.T @ error, error.sum(axis=0)]


def curve(run, dtype):
    """The loss before each of the 100 steps, and the weights after them."""
    make, options, rate = RUNS[run]
    weights = initial_weights(dtype)
    optimizer = make(weights, **options)
    losses = []
    for t, (x, label) in enumerate(batches(dtype)):
        loss, gradients = loss_and_gradients(weights, x, label)
        losses.append(loss)
        weights = optimizer.step(weights, gradients, rate(t))
    return np.array(losses), weights


def compiled_curve(model, run, dtype):
    """The same by the compiled model, one entry per run; each entry has an optimizer of its own."""
    for name, value in zip(("w1", "b1", "w2", "b2"), initial_weights(dtype)):
        model[name] = value
    if "step" in model.variables:
        model["step"] = 0
    return np.array([model.call(run, x=x, label=label)[0] for x, label in batches(dtype)])


def compare(library, name):
    sys.path.insert(0, os.path.join(HERE, "..", "Inputs"))
    from model import Model

    dtype, limit, wrong = {"f32": np.float32, "f64": np.float64}[name], TOLERANCE[name], 0
    model = Model(library)
    for run in RUNS:
        expected, _ = curve(run, dtype)
        got = compiled_curve(model, run, dtype)
        difference = np.abs(got - expected) / np.maximum(np.abs(expected), 1)
        worst = int(np.nanargmax(np.where(np.isnan(difference), np.inf, difference)))
        ok = bool((difference <= limit).all())
        wrong += not ok
        print(
            f"{'agrees ' if ok else 'DIFFERS'} {run:22} {name} by at most {difference[worst]:.1e} at step {worst}:"
            f" {got[worst]:.12g}, expected {expected[worst]:.12g}"
        )
    return 1 if wrong else 0


def main():
    if len(sys.argv) == 3:
        return compare(sys.argv[1], sys.argv[2])
    for run in RUNS:
        double, _ = curve(run, np.float64)
        single, _ = curve(run, np.float32)
        print(
            f"{run:22} loss {double[0]:.6f} -> {double[-1]:.6f}; f32 differs by {np.abs(double - single).max():.1e}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
