"""The initial weights and data of these tests, the same for tfc and for the peer: drawn from NumPy's frozen
RandomState, so that only the losses have to be stored.

    weights = initial_weights({"net.w": (4, 8), ..})
    for feeds in batches("gpt"): ...

Other seeds lead to other weights and other data.
"""

import numpy as np

STEPS = 50


def is_weight(name):
    """Returns true for trained variables, which are neither slots of an optimizer nor running averages."""
    return "net." in name and not name.startswith("opt.") and name.split(".")[-1] not in RUNNING


RUNNING = "average", "variance"


def initial_weights(shapes, seed=0):
    """Scales are near 1, other vectors near 0, matrices keep the variance of their rows."""
    weights = {}
    for number, name in enumerate(sorted(shapes)):
        shape = shapes[name]
        noise = np.random.RandomState(1000 * seed + number).normal(size=shape)
        if name.endswith(".scale"):
            values = 1 + 0.1 * noise
        elif len(shape) < 2:
            values = 0.1 * noise
        else:
            values = noise / np.sqrt(np.prod(shape[:-1]))
        weights[name] = values.astype(np.float32)
    return weights


def _gpt(random):
    """A text of sixteen words, in random order."""
    words = random.randint(1, 128, size=(16, 7))
    text = words[random.randint(0, 16, size=STEPS * 8 * 10)].astype(np.int32)
    rows = text.reshape(STEPS, 8, 70)[:, :, :65]
    return [{"tokens": tokens} for tokens in np.ascontiguousarray(rows)]


def _convnet(random):
    """Ten images, each with noise."""
    images = random.uniform(0, 12, size=(10, 64))
    label = random.randint(0, 10, size=(STEPS, 32)).astype(np.int32)
    x = (images[label] + random.normal(scale=4, size=(STEPS, 32, 64))).astype(np.float32)
    return [{"x": x[i], "label": label[i]} for i in range(STEPS)]


def _resnet(random):
    """Stripes of four directions in colour, with noise: each step has other sizes."""
    feeds = []
    for step in range(STEPS):
        n, height, width = 4 + step % 3, random.randint(15, 25), random.randint(15, 25)
        label = random.randint(0, 4, size=n).astype(np.int32)
        row, column = np.arange(height)[:, None], np.arange(width)
        along = np.stack([row + 0 * column, 0 * row + column, row + column, row - column])[label]
        stripes = np.sin(along)[..., None] * [1.0, 0.5, -0.5]
        noise = random.normal(scale=0.5, size=(n, height, width, 3))
        feeds.append({"x": (stripes + noise).astype(np.float32), "label": label})
    return feeds


def batches(network, seed=0):
    """The feeds of each step."""
    return {"gpt": _gpt, "convnet": _convnet, "resnet": _resnet}[network](np.random.RandomState(7 + seed))


def train(model, network, seed=0):
    """The results of the calls of `train`; floating-point feeds and weights have the model's dtype."""
    variables = {n: v for n, v in model.variables.items() if is_weight(n)}
    shapes = {n: shape for n, (_, shape) in variables.items()}
    for name, value in initial_weights(shapes, seed).items():
        model[name] = value.astype(model[name].dtype)
    kind = model[name].dtype
    results = []
    for feeds in batches(network, seed):
        feeds = {k: v.astype(kind) if v.dtype.kind == "f" else v for k, v in feeds.items()}
        results.append([float(x) for x in model.call("train", **feeds)])
    return results
