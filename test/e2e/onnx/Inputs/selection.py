"""Selections, positions and counts, element by element; determinants and steps of training."""

import itertools
import sys

import numpy as np
from onnx_case import Cases

cases = Cases(sys.argv[1])
random = np.random.default_rng(7)


def draw(*shape):
    return random.normal(size=shape).astype(np.float32)


def ends(box, centered):
    if centered:
        return box[1] - box[3] / 2, box[0] - box[2] / 2, box[1] + box[3] / 2, box[0] + box[2] / 2
    return min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3])


def overlap(a, b, centered):
    a, b = ends(a, centered), ends(b, centered)
    both = max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    area = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both
    return both / area if area > 0 else 0


def suppress(boxes, scores, most, limit, least, centered):
    found = []
    for b, c in np.ndindex(scores.shape[:2]):
        kept = []
        for i in sorted(range(scores.shape[2]), key=lambda i: -scores[b, c, i]):
            if len(kept) < most and scores[b, c, i] > least and all(
                    overlap(boxes[b, i], boxes[b, k], centered) <= limit for k in kept):
                kept.append(i)
        found += [[b, c, i] for i in kept]
    return np.array(found, np.int64).reshape(-1, 3)


boxes = random.uniform(0, 1, (2, 9, 4)).astype(np.float32)
scores = random.uniform(0, 1, (2, 3, 9)).astype(np.float32)
for most, centered in (2, 0), (9, 0), (50, 1), (0, 0):
    cases.check(f"y = NonMaxSuppression b s n o t | center_point_box={centered}",
                {"b": boxes, "s": scores, "o": np.float32([0.3]), "t": np.float32([0.2])},
                {"y": suppress(boxes, scores, most, 0.3, 0.2, centered)}, fixed={"n": np.array([most])}, opset=11)
cases.check("y = NonMaxSuppression b s n", {"b": boxes, "s": scores},
            {"y": suppress(boxes, scores, 4, 0, -np.inf, 0)}, fixed={"n": np.array([4])}, opset=11)

x = random.integers(0, 2, (6, 2, 3)).astype(np.float32)
for axis, slices in ((0, x), (1, x.swapaxes(0, 1)), (-1, x.transpose(2, 0, 1))):
    slices = np.concatenate([slices, slices[:2]])
    y, first, inverse, counts = np.unique(slices, True, True, True, axis=0)
    x1 = np.moveaxis(slices, 0, axis)
    cases.check(f"y, f, i, c = Unique x | axis={axis}", {"x": x1},
                {"y": np.moveaxis(y, 0, axis), "f": first, "i": inverse.reshape(-1), "c": counts}, opset=11)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    cases.check(f"y, f, i, c = Unique x | axis={axis} sorted=0", {"x": x1},
                {"y": np.moveaxis(y[order], 0, axis), "f": first[order], "i": place[inverse.reshape(-1)],
                 "c": counts[order]}, opset=11)

x = draw(1, 2, 2, 3)
index = random.permutation(48)[:12].reshape(x.shape)
y = np.zeros(48, np.float32)
y[index.reshape(-1)] = x.reshape(-1)
y = y.reshape(1, 2, 4, 6)
attributes = "kernel_shape=[2,2] strides=[2,2]"
cases.check(f"y = MaxUnpool x i | {attributes}", {"x": x, "i": index}, {"y": y}, opset=11)
cases.check(f"y = MaxUnpool x i s | {attributes}", {"x": x, "i": index}, {"y": np.pad(y, ((0, 0), (0, 0), (0, 1), (0, 2)))},
            fixed={"s": np.array([1, 2, 5, 8])}, opset=11)


def add_blocks(x, image, block, stride, dilation, pads):
    n, taps = len(x), int(np.prod(block))
    counts = [(i + pads[a] + pads[a + 2] - d * (b - 1) - 1) // s + 1
              for a, (i, b, s, d) in enumerate(zip(image, block, stride, dilation))]
    y = np.zeros((n, x.shape[1] // taps, *image), np.float32)
    for b, c, t, l in np.ndindex(n, y.shape[1], taps, x.shape[2]):
        tap, at = np.unravel_index(t, block), np.unravel_index(l, counts)
        place = [p * s - q + k * d for p, s, q, k, d in zip(at, stride, pads, tap, dilation)]
        if all(0 <= p < i for p, i in zip(place, image)):
            y[(b, c, *place)] += x[b, c * taps + t, l]
    return y


for image, block, stride, dilation, pads in (((5, 5), (1, 5), (1, 1), (1, 1), (0, 1, 0, 1)),
                                             ((6, 7), (2, 3), (2, 1), (1, 2), (1, 0, 2, 1))):
    counts = [(i + pads[a] + pads[a + 2] - d * (b - 1) - 1) // s + 1
              for a, (i, b, s, d) in enumerate(zip(image, block, stride, dilation))]
    x = draw(2, 2 * int(np.prod(block)), int(np.prod(counts)))
    lists = " ".join(f"{name}=[{','.join(map(str, value))}]" for name, value in
                     (("strides", stride), ("dilations", dilation), ("pads", pads)))
    cases.check(f"y = Col2Im x i b | {lists}", {"x": x}, {"y": add_blocks(x, image, block, stride, dilation, pads)},
                fixed={"i": np.array(image), "b": np.array(block)}, opset=18)

x = draw(5, 4, 3)
y = np.zeros((2, 7, 3), np.float32)
y[:, 1:5] = x[1:3]
cases.check("y = CenterCropPad x s | axes=[0,-2]", {"x": x}, {"y": y}, fixed={"s": np.array([2, 7])}, opset=18)
cases.check("y = CenterCropPad x s", {"x": x}, {"y": x[1:4, 1:3, 1:2]}, fixed={"s": np.array([3, 2, 1])}, opset=18)

for size in 1, 2, 3, 5:
    x = draw(3, 2, size, size)
    x[0, 0, 0] = 0  # singular, or with a pivot in another row
    x[0, 1, :, 0] = np.eye(size)[-1]
    cases.check("y = Det x", {"x": x}, {"y": np.linalg.det(x)}, opset=11)

a, b = draw(3, 4), draw(3, 4)
for alpha in 1.0, 1.702:
    cases.check(f"y = SwiGLU a b | alpha={alpha}", {"a": a, "b": b}, {"y": a / (1 + np.exp(-alpha * a)) * b}, opset=28)


def count_grams(row, grams, skips):
    found = []
    for gram in grams:
        gaps = range(skips + 1 if len(gram) > 1 else 1)
        reaches = [(len(gram) - 1) * (gap + 1) for gap in gaps]
        found.append(sum(tuple(row[i:i + reach + 1:gap + 1]) == gram for gap, reach in zip(gaps, reaches)
                         for i in range(len(row) - reach)))
    return found


grams = [(1,), (3,), (1, 2), (2, 2), (3, 1), (2, 1, 3)]
pool = "ngram_counts=[0,2,8] pool_int64s=[1,3,1,2,2,2,3,1,2,1,3] ngram_indexes=[4,0,1,2,6,5]"
x = random.integers(1, 4, (3, 9))
weights = [0.5, 2.0, 1.5, 0.25, 3.0, 1.25]
for mode, least, most, skips in (("TF", 1, 3, 2), ("IDF", 1, 2, 0), ("TFIDF", 2, 3, 1)):
    y = np.zeros((3, 7), np.float32)
    for i, row in enumerate(x):
        for gram, at, factor, number in zip(grams, [4, 0, 1, 2, 6, 5], weights, count_grams(row, grams, skips)):
            if least <= len(gram) <= most:
                y[i, at] = {"TF": number, "IDF": factor * min(number, 1), "TFIDF": factor * number}[mode]
    attributes = f'{pool} mode="{mode}" min_gram_length={least} max_gram_length={most} max_skip_count={skips}'
    if mode != "TF":
        attributes += f" weights=[{','.join(map(str, weights))}]"
    cases.check(f"y = TfIdfVectorizer x | {attributes}", {"x": x}, {"y": y}, opset=9)
    cases.check(f"y = TfIdfVectorizer x | {attributes}", {"x": x[0].astype(np.int32)}, {"y": y[0]}, opset=9)

r, x, g, v, h = np.float32(0.1), draw(3), draw(3), draw(3), np.abs(draw(3))
for step in 0, 4:
    t, g1 = np.int64(step), 0.01 * x + g
    feeds = {"r": r, "t": t, "x": x, "g": g, "h": h}
    y = x - r / (1 + step * 0.1) * g1 / (np.sqrt(h + g1 * g1) + 1e-3)
    cases.check("y, k = ai.onnx.preview.training.Adagrad r t x g h | norm_coefficient=0.01 epsilon=0.001 decay_factor=0.1",
                feeds, {"y": y, "k": h + g1 * g1})
    beta = 0.75 if step else 1
    v1 = 0.9 * v + beta * g1
    for mode, change in ("standard", v1), ("nesterov", g1 + 0.9 * v1):
        cases.check(f'y, w = ai.onnx.preview.training.Momentum r t x g v | norm_coefficient=0.01 alpha=0.9 beta=0.75 '
                    f'mode="{mode}"', {"r": r, "t": t, "x": x, "g": g, "v": v}, {"y": x - r * change, "w": v1})
    v2, h2 = 0.9 * v + 0.1 * g1, 0.99 * h + 0.01 * g1 * g1
    rate = r * np.sqrt(1 - 0.99**step) / (1 - 0.9**step) if step else r
    y = 0.98 * (x - rate * v2 / (np.sqrt(h2) + 1e-3))
    # Two parameters at once.
    feeds = {"r": r, "t": t, "x": x, "g": g, "v": v, "h": h}
    cases.check("y, z, w, u, k, l = ai.onnx.preview.training.Adam r t x x g g v v h h | norm_coefficient=0.01 alpha=0.9 "
                "beta=0.99 epsilon=0.001 norm_coefficient_post=0.02", feeds, {"y": y, "z": y, "w": v2, "l": h2})
cases.finish()
