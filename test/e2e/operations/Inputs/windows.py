"""Operations over windows in plain loops: references for the tables in this folder."""

import itertools

import numpy as np


def per_axis(number, rank):
    numbers = [number] if isinstance(number, int) else list(number)
    return numbers * rank if len(numbers) == 1 else numbers


class Windows:
    """The positions of windows over `sizes`; the options are those of the language."""

    def __init__(self, sizes, taps, stride=1, padding="valid", pads=None, dilation=1, ceil=False):
        rank = len(sizes)
        self.sizes, self.taps = tuple(sizes), tuple(taps)
        self.stride, self.dilation = per_axis(stride, rank), per_axis(dilation, rank)
        extents = [(k - 1) * d + 1 for k, d in zip(taps, self.dilation)]
        if padding == "same":
            self.counts = tuple(-(-size // s) for size, s in zip(sizes, self.stride))
            missing = [max((c - 1) * s + e - size, 0)
                       for c, s, e, size in zip(self.counts, self.stride, extents, sizes)]
            self.low = [m // 2 for m in missing]
            self.padded = [max((c - 1) * s + e, size)
                           for c, s, e, size in zip(self.counts, self.stride, extents, sizes)]
            return
        sides = [0] if pads is None else per_axis(pads, 1)
        if len(sides) != 2 * rank:
            sides = [side for side in per_axis(sides, rank) for _ in range(2)]
        self.low = sides[::2]
        self.padded = [size + low + high for size, low, high in zip(sizes, sides[::2], sides[1::2])]
        self.counts = tuple((padded - e) // s + 1 for padded, e, s in zip(self.padded, extents, self.stride))
        if ceil:
            self.counts = tuple(
                min(-(-(padded - e) // s), (low + size - 1) // s) + 1
                for padded, e, s, low, size in zip(self.padded, extents, self.stride, self.low, sizes))

    def taps_within(self, window):
        """The number of taps of a window that are elements or requested padding."""
        return np.prod([sum(w * s + t * d < padded for t in range(k)) for w, s, d, k, padded in zip(
            window, self.stride, self.dilation, self.taps, self.padded)])

    def places(self):
        """Each window, each of its taps, and the element there if it is not padding."""
        for window in itertools.product(*map(range, self.counts)):
            for tap in itertools.product(*map(range, self.taps)):
                place = tuple(w * s + t * d - low for w, s, t, d, low in zip(
                    window, self.stride, tap, self.dilation, self.low))
                if all(0 <= p < size for p, size in zip(place, self.sizes)):
                    yield window, tap, place


def convolution(x, kernel, groups=1, **options):
    windows = Windows(x.shape[1:-1], kernel.shape[:-2], **options)
    y = np.zeros((x.shape[0], *windows.counts, kernel.shape[-1]), x.dtype)
    for window, tap, place in windows.places():
        for c, f in by_group(x.shape[-1], kernel.shape[-1], groups):
            y[(slice(None), *window, f)] += x[(slice(None), *place, c)] @ kernel[(*tap, slice(None), f)]
    return y


def convolution_transpose(x, kernel, sizes=None, output_padding=0, groups=1, **options):
    rank = x.ndim - 2
    if sizes is None:
        still = Windows(x.shape[1:-1], kernel.shape[:-2], **options)
        more = per_axis(output_padding, rank)
        if options.get("padding") == "same":
            sizes = [n * s + m for n, s, m in zip(x.shape[1:-1], still.stride, more)]
        else:
            pads = per_axis(options.get("pads") or 0, 1)
            if len(pads) != 2 * rank:
                pads = [pad for pad in per_axis(pads, rank) for _ in range(2)]
            sizes = [(n - 1) * s + (k - 1) * d + 1 - low - high + m for n, s, k, d, low, high, m in zip(
                x.shape[1:-1], still.stride, kernel.shape, still.dilation, pads[::2], pads[1::2], more)]
    windows = Windows(sizes, kernel.shape[:-2], **options)
    assert windows.counts == x.shape[1:-1]
    y = np.zeros((x.shape[0], *sizes, kernel.shape[-2] * groups), x.dtype)
    for window, tap, place in windows.places():
        for c, f in by_group(y.shape[-1], kernel.shape[-1], groups):
            y[(slice(None), *place, c)] += x[(slice(None), *window, f)] @ kernel[(*tap, slice(None), f)].T
    return y


def convolution_weights(x, grad, size, groups=1, **options):
    windows = Windows(x.shape[1:-1], per_axis(size, x.ndim - 2), **options)
    assert windows.counts == grad.shape[1:-1]
    y = np.zeros((*windows.taps, x.shape[-1] // groups, grad.shape[-1]), x.dtype)
    for window, tap, place in windows.places():
        for c, f in by_group(x.shape[-1], grad.shape[-1], groups):
            y[(*tap, slice(None), f)] += x[(slice(None), *place, c)].T @ grad[(slice(None), *window, f)]
    return y


def by_group(channels, features, groups):
    for g in range(groups):
        yield (slice(g * channels // groups, (g + 1) * channels // groups),
               slice(g * features // groups, (g + 1) * features // groups))


def pooled(x, size, stride=None, **options):
    """The windows of `x` by the window: lists of elements [n, c] and their positions."""
    size = per_axis(size, x.ndim - 2)
    windows = Windows(x.shape[1:-1], size, stride=stride or size, **options)
    inside = {window: [] for window in itertools.product(*map(range, windows.counts))}
    for window, _, place in windows.places():
        inside[window].append((x[(slice(None), *place)], np.ravel_multi_index(place, windows.sizes)))
    return windows, inside


def max_pool(x, size, **options):
    return max_pool_with_indices(x, size, **options)[0]


def max_pool_with_indices(x, size, dtype=np.int32, **options):
    windows, inside = pooled(x, size, **options)
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    y = np.full((x.shape[0], *windows.counts, x.shape[-1]), lowest, x.dtype)
    index = np.full(y.shape, -1, dtype)
    for window, elements in inside.items():
        for value, place in elements:
            at = (slice(None), *window)
            better = (index[at] < 0) | (value > y[at]) | (np.isnan(value) & ~np.isnan(y[at]))
            y[at] = np.where(better, value, y[at])
            index[at] = np.where(better, place, index[at])
    return y, index


def avg_pool(x, size, count_padding=False, **options):
    windows, inside = pooled(x, size, **options)
    y = np.full((x.shape[0], *windows.counts, x.shape[-1]), np.nan, x.dtype)
    for window, elements in inside.items():
        count = int(windows.taps_within(window)) if count_padding else len(elements)
        if count:
            y[(slice(None), *window)] = sum((value for value, _ in elements), np.zeros_like(x, shape=y[(slice(None), *window)].shape)) / count
    return y


def windows(x, size, stride=1, dilation=1):
    places = Windows(x.shape[1:1 + len(size)], size, stride=stride, dilation=dilation)
    y = np.zeros((x.shape[0], *places.counts, *places.taps, *x.shape[1 + len(size):]), x.dtype)
    for window, tap, place in places.places():
        y[(slice(None), *window, *tap)] = x[(slice(None), *place)]
    return y


def place_windows(x, shape, stride=1, dilation=1, low=0, value=0.0):
    rank = len(shape)
    taps = x.shape[1 + rank:1 + 2 * rank]
    places = Windows(shape, taps, stride=stride, dilation=dilation)
    places.counts, places.low = x.shape[1:1 + rank], per_axis(low, rank)
    y = np.full((x.shape[0], *shape, *taps, *x.shape[1 + 2 * rank:]), value, x.dtype)
    for window, tap, place in places.places():
        y[(slice(None), *place, *tap)] = x[(slice(None), *window, *tap)]
    return y


def local_response_norm(x, radius=5, bias=1.0, alpha=1.0, beta=0.5):
    sums = np.zeros_like(x)
    for c in range(x.shape[-1]):
        sums[..., c] = (x[..., max(c - radius, 0):c + radius + 1] ** 2).sum(-1)
    return x / (bias + alpha * sums) ** beta
