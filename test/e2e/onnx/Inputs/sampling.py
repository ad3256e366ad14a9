"""Samples of images at computed positions, one by one."""

import itertools
import sys

import numpy as np
from onnx_case import Cases

cases = Cases(sys.argv[1])
random = np.random.default_rng(6)


def draw(*shape):
    return random.normal(size=shape).astype(np.float32)


def reflect(x, low, high):
    while not low <= x <= high:
        x = 2 * low - x if x < low else 2 * high - x
    return x


def limit(x, size, padding, aligned):
    if padding == "border":
        return min(max(x, 0), size - 1)
    if padding == "reflection":
        return reflect(x, 0, size - 1) if aligned else reflect(x, -0.5, size - 0.5)
    return x


def pixel(image, at, padding, aligned):
    at = [int(limit(x, size, padding, aligned)) for x, size in zip(at, image.shape)]
    return image[tuple(at)] if all(0 <= x < size for x, size in zip(at, image.shape)) else 0


def weight(distance, mode):
    d = abs(distance)
    if mode == "linear":
        return max(1 - d, 0)
    return 1.25 * d**3 - 2.25 * d**2 + 1 if d <= 1 else -0.75 * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0


def sample(image, point, mode, padding, aligned):
    """`point` has the coordinates from the last axis on."""
    places = [(p + 1) / 2 * (n - 1) if aligned else ((p + 1) * n - 1) / 2 for p, n in zip(point[::-1], image.shape)]
    if mode == "nearest":
        places = [limit(np.rint(x), n, padding, aligned) for x, n in zip(places, image.shape)]
        return pixel(image, places, padding, aligned)
    places = [limit(x, n, padding, aligned) for x, n in zip(places, image.shape)]
    steps = (0, 1) if mode == "linear" else (-1, 0, 1, 2)
    total = 0
    for offsets in itertools.product(steps, repeat=len(places)):
        at = [int(np.floor(x)) + k for x, k in zip(places, offsets)]
        factor = np.prod([weight(x - a, mode) for x, a in zip(places, at)])
        total += factor * pixel(image, at, padding, aligned)
    return total


def sampled(x, grid, *options):
    y = np.zeros(x.shape[:2] + grid.shape[1:-1], np.float32)
    for n, c in np.ndindex(x.shape[:2]):
        for at in np.ndindex(grid.shape[1:-1]):
            y[(n, c) + at] = sample(x[n, c], grid[(n,) + at], *options)
    return y


x, grid = draw(2, 2, 4, 5), (1.4 * draw(2, 3, 2, 2)).astype(np.float32)
for mode in "linear", "nearest", "cubic":
    for padding in "zeros", "border", "reflection":
        for aligned in 0, 1:
            cases.check(f'y = GridSample x g | mode="{mode}" padding_mode="{padding}" align_corners={aligned}',
                        {"x": x, "g": grid}, {"y": sampled(x, grid, mode, padding, bool(aligned))}, opset=20)
x, grid = draw(1, 2, 3, 4, 2), draw(1, 2, 2, 3, 3)
cases.check("y = GridSample x g", {"x": x, "g": grid}, {"y": sampled(x, grid, "linear", "zeros", False)}, opset=20)
cases.check('y = GridSample x g | mode="bilinear"', {"x": x[:, :, 0], "g": grid[:, 0, :, :, :2]},
            {"y": sampled(x[:, :, 0], grid[:, 0, :, :, :2], "linear", "zeros", False)}, opset=16)

for sizes in (3, 4), (2, 3, 2):
    theta = draw(2, len(sizes), len(sizes) + 1)
    for aligned in 0, 1:
        y = np.zeros((2,) + sizes + (len(sizes),), np.float32)
        for n in range(2):
            for at in np.ndindex(sizes):
                place = [2 * i / (s - 1) - 1 if aligned else (2 * i + 1) / s - 1 for i, s in zip(at, sizes)]
                y[(n,) + at] = theta[n] @ np.array(place[::-1] + [1])
        cases.check(f"y = AffineGrid t s | align_corners={aligned}", {"t": theta}, {"y": y}, opset=20,
                    fixed={"s": np.array([2, 1, *sizes])})


def corners(image, y, x):
    """The neighbours of a position with their weights."""
    height, width = image.shape
    if y < -1 or y > height or x < -1 or x > width:
        return [0.0]
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    y0, x0 = int(y), int(x)
    y1, x1 = min(y0 + 1, height - 1), min(x0 + 1, width - 1)
    b, a = y - y0, x - x0
    return [(1 - b) * (1 - a) * image[y0, x0], (1 - b) * a * image[y0, x1], b * (1 - a) * image[y1, x0],
            b * a * image[y1, x1]]


def roi_align(x, rois, batch, offset, ratio, scale, combine):
    y = np.zeros((len(rois), x.shape[1], 2, 3), np.float32)
    for n, roi in enumerate(rois):
        x0, y0, x1, y1 = roi * scale - offset
        width, height = x1 - x0, y1 - y0
        if not offset:
            width, height = max(width, 1), max(height, 1)
        rows, columns = ratio or max(int(np.ceil(height / 2)), 0), ratio or max(int(np.ceil(width / 3)), 0)
        for c, i, j in np.ndindex(y.shape[1:]):
            found = [corners(x[batch[n], c], y0 + (i + (k + 0.5) / rows) * height / 2,
                             x0 + (j + (l + 0.5) / columns) * width / 3) for k in range(rows) for l in range(columns)]
            y[n, c, i, j] = combine(found) if found else 0
    return y


x, batch = draw(2, 2, 6, 7), np.array([0, 1, 1])
rois = np.array([[0, 0, 8, 6], [3, 2, 12, 9], [-4, 5, 4, 6]], np.float32)
feeds, sizes = {"x": x, "r": rois, "b": batch}, "output_height=2 output_width=3 sampling_ratio=2 spatial_scale=0.5"
mean, most = lambda found: np.mean([sum(f) for f in found]), lambda found: max(max(f) for f in found)
cases.check(f"y = RoiAlign x r b | {sizes}", feeds, {"y": roi_align(x, rois, batch, 0.5, 2, 0.5, mean)}, opset=16)
cases.check(f"y = RoiAlign x r b | {sizes}", feeds, {"y": roi_align(x, rois, batch, 0.0, 2, 0.5, mean)}, opset=10)
cases.check(f'y = RoiAlign x r b | {sizes} mode="max"', feeds, {"y": roi_align(x, rois, batch, 0.5, 2, 0.5, most)}, opset=16)
# The size of each region decides how many samples it has; the last one has none.
rois, batch = np.concatenate([rois, np.float32([[0, 0, 14, 3], [5, 5, 4, 4]])]), np.array([0, 1, 1, 0, 1])
feeds, sizes = {"x": x, "r": rois, "b": batch}, "output_height=2 output_width=3"
cases.check(f"y = RoiAlign x r b | {sizes}", feeds, {"y": roi_align(x, rois, batch, 0.5, 0, 1.0, mean)}, opset=16)
cases.check(f"y = RoiAlign x r b | {sizes}", feeds, {"y": roi_align(x, rois, batch, 0.0, 0, 1.0, mean)}, opset=10)
cases.check(f'y = RoiAlign x r b | {sizes} mode="max"', feeds, {"y": roi_align(x, rois, batch, 0.5, 0, 1.0, most)}, opset=16)


def away(value):
    return int(np.copysign(np.floor(abs(value) + 0.5), value))


def max_roi_pool(x, rois, shape, scale):
    y = np.zeros((len(rois), x.shape[1], *shape), np.float32)
    for n, roi in enumerate(rois):
        x0, y0, x1, y1 = (away(corner * scale) for corner in roi[1:])
        height, width = max(y1 - y0 + 1, 1) / shape[0], max(x1 - x0 + 1, 1) / shape[1]
        for i, j in np.ndindex(*shape):
            rows = [y0 + k for k in range(int(np.floor(i * height)), int(np.ceil((i + 1) * height)))]
            columns = [x0 + k for k in range(int(np.floor(j * width)), int(np.ceil((j + 1) * width)))]
            found = [x[int(roi[0]), :, r, c] for r in rows for c in columns if 0 <= r < x.shape[2] and 0 <= c < x.shape[3]]
            y[n, :, i, j] = np.max(found, axis=0) if found else 0
    return y


rois = np.array([[0, 0, 0, 6, 5], [1, 3, 2, 12, 9], [1, -4, 1, 2.5, 3], [0, 20, 1, 30, 2], [1, 5, 5, 1, 1]], np.float32)
for scale in 1.0, 0.5:
    cases.check(f"y = MaxRoiPool x r | pooled_shape=[2,3] spatial_scale={scale}", {"x": x, "r": rois},
                {"y": max_roi_pool(x, rois, (2, 3), scale)}, opset=16)


def deformed(x, w, offset, mask, stride, pad, groups):
    """A convolution with kernels of 2 by 2 and one group of channels."""
    n, c, _, _ = x.shape
    rows, columns = offset.shape[2:]
    y = np.zeros((n, len(w), rows, columns), np.float32)
    for b, m, i, j in np.ndindex(y.shape):
        for k in range(c):
            g = k * groups // c
            for t in range(4):
                down, right = offset[b, (g * 4 + t) * 2:(g * 4 + t) * 2 + 2, i, j]
                place = i * stride - pad + t // 2 + down, j * stride - pad + t % 2 + right
                value = 0
                for u, v in itertools.product((0, 1), repeat=2):
                    at = int(np.floor(place[0])) + u, int(np.floor(place[1])) + v
                    value += (weight(place[0] - at[0], "linear") * weight(place[1] - at[1], "linear") *
                              pixel(x[b, k], at, "zeros", False))
                y[b, m, i, j] += w[m, k, t // 2, t % 2] * value * mask[b, g * 4 + t, i, j]
    return y


x, w, offset, mask = draw(2, 4, 4, 5), draw(3, 4, 2, 2), draw(2, 16, 3, 3), draw(2, 8, 3, 3)
cases.check("y = DeformConv x w o - m | kernel_shape=[2,2] strides=[2,2] pads=[1,1,1,1] offset_group=2",
            {"x": x, "w": w, "o": offset, "m": mask}, {"y": deformed(x, w, offset, mask, 2, 1, 2)}, opset=19)
bias = draw(3)
y = deformed(x, w, offset, np.ones_like(mask), 2, 1, 2) + bias[:, None, None]
cases.check("y = DeformConv x w o b | strides=[2,2] pads=[1,1,1,1] offset_group=2", {"x": x, "w": w, "o": offset, "b": bias},
            {"y": y}, opset=19)
cases.finish()
