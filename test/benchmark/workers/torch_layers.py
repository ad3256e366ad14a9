"""torch: the tasks of layers.py in eager mode, images in the faster of its two layouts."""

import time

import numpy as np
import protocol
import torch
import torch.nn.functional as F
from layers import LAYERS, task_name

torch.set_num_threads(1)

DTYPES = {"f32": np.float32, "i32": np.int32, "bool": np.bool_}


def _conv(options=None, function=F.conv2d, pads=1):
    return lambda t: function(t.x, t.w, padding=pads, **(options or {}))


def _first(t):
    """Padding "same" of a kernel of 7 with a stride of 2 on 112: two elements before, three after."""
    return F.conv2d(F.pad(t.x, (2, 3, 2, 3)), t.w, stride=2)


def _stride2(groups=1):
    """Padding "same" of a kernel of 3 with a stride of 2 on an even size: one element after."""
    return lambda t: F.conv2d(F.pad(t.x, (0, 1, 0, 1)), t.w, stride=2, groups=groups)


def _batch_norm(train):
    return lambda t: F.batch_norm(t.x, t.average, t.variance, t.scale, t.shift, train, 0.01, 1e-3)


def _resize(mode, size=112, **more):
    return lambda t: F.interpolate(t.x, size=(size, size), mode=mode, **more)


def _to_depth(t):
    n, c, h, w = t.x.shape
    y = t.x.reshape(n, c, h // 2, 2, w // 2, 2)
    return y.permute(0, 3, 5, 1, 2, 4).reshape(n, 4 * c, h // 2, w // 2)


def _to_space(t):
    n, c, h, w = t.x.shape
    y = t.x.reshape(n, 2, 2, c // 4, h, w)
    return y.permute(0, 3, 4, 1, 5, 2).reshape(n, c // 4, 2 * h, 2 * w)


def _to_batch(t):
    n, c, h, w = t.x.shape
    y = t.x.reshape(n, c, h // 2, 2, w // 2, 2)
    return y.permute(3, 5, 0, 1, 2, 4).reshape(4 * n, c, h // 2, w // 2)


def _segments(reduce):
    def call(t):
        places = t.i[:, None].expand_as(t.x)
        lowest = torch.full((1000, 64), torch.finfo(torch.float32).min)
        return lowest.scatter_reduce(0, places, t.x, reduce)

    return call


def _segment_mean(t):
    sums = torch.zeros(1000, 64).index_add(0, t.i, t.x)
    return sums / torch.bincount(t.i, minlength=1000).clamp(min=1)[:, None]


def _set_rows(t):
    y = t.x.clone()
    y[t.i] = t.u
    return y


def _band(t):
    return torch.tril(torch.triu(t.x, -2), 2)


def _recurrent(function, state, t):
    weights = [t.w, t.u, t.b, t.c]
    return function(t.x, state, weights, True, 1, 0.0, True, False, True)[0]


def _zero():
    return torch.zeros(1, 20, 256)


def _attend(causal):
    return lambda t: F.scaled_dot_product_attention(t.q, t.k, t.v, is_causal=causal)


CALLS = {
    "conv1d": _conv(function=F.conv1d, pads=2),
    "conv2d_first": _first,
    "conv2d_3x3": _conv(),
    "conv2d_1x1": _conv(pads=0),
    "conv2d_stride2": _stride2(),
    "conv2d_dilated": _conv({"dilation": 2}, pads=2),
    "conv2d_groups": _conv({"groups": 8}),
    "conv2d_to_1": _conv(),
    "depthwise": _conv({"groups": 64}),
    "depthwise_stride2": _stride2(groups=64),
    "depthwise_7x7": _conv({"groups": 96}, pads=3),
    "conv3d": _conv(function=F.conv3d),
    "conv_transpose": lambda t: F.conv_transpose2d(t.x, t.w, stride=2, padding=1),
    "max_pool_2": lambda t: F.max_pool2d(t.x, 2),
    "max_pool_3": lambda t: F.max_pool2d(t.x, 3, 2, 1),
    "max_pool_index": lambda t: F.max_pool2d(t.x, 2, return_indices=True),
    "avg_pool_2": lambda t: F.avg_pool2d(t.x, 2),
    "avg_pool_3": lambda t: F.avg_pool2d(t.x, 3, 1, 1, count_include_pad=False),
    "global_avg_pool": lambda t: t.x.mean((2, 3)),
    "batch_norm": _batch_norm(True),
    "batch_norm_infer": _batch_norm(False),
    "layer_norm": lambda t: F.layer_norm(t.x, (768,), t.scale, t.shift),
    "rms_norm": lambda t: F.rms_norm(t.x, (768,), t.scale, 1e-6),
    "group_norm": lambda t: F.group_norm(t.x, 8, t.scale, t.shift),
    "instance_norm": lambda t: F.instance_norm(t.x, weight=t.scale, bias=t.shift),
    "response_norm": lambda t: F.local_response_norm(t.x, 5, 5e-4, 0.5),
    "dropout": lambda t: F.dropout(t.x, 0.1),
    "embedding": lambda t: F.embedding(t.i, t.w),
    "dense": lambda t: torch.addmm(t.b, t.x, t.w),
    "resize_nearest": _resize("nearest"),
    "resize_linear": _resize("bilinear"),
    "resize_cubic": _resize("bicubic"),
    "resize_area": _resize("area", 28),
    "space_to_depth": _to_depth,
    "depth_to_space": _to_space,
    "space_to_batch": _to_batch,
    "pad_reflect": lambda t: F.pad(t.x, (1, 1, 1, 1), mode="reflect"),
    "roll": lambda t: t.x.roll(3, 2),
    "to_channels_first": lambda t: t.x.permute(0, 3, 1, 2).contiguous(),
    "softmax": lambda t: t.x.softmax(-1),
    "softmax_columns": lambda t: t.x.softmax(0),
    "cross_entropy": lambda t: F.cross_entropy(t.x, t.i, reduction="none"),
    "smoothed_cross_entropy": lambda t: F.cross_entropy(
        t.x, t.i, label_smoothing=0.1, reduction="none"
    ),
    "huber": lambda t: F.huber_loss(t.x, t.y, reduction="none"),
    "binary_cross_entropy": lambda t: F.binary_cross_entropy_with_logits(
        t.x, t.y.sigmoid(), reduction="none"
    ),
    "top_5_of_10000": lambda t: t.x.topk(5),
    "top_5_values": lambda t: t.x.topk(5)[0],
    "top_1_of_1000000": lambda t: t.x.topk(1),
    "top_100_of_1000": lambda t: t.x.topk(100),
    "sort_rows": lambda t: t.x.sort()[0],
    "sort_short_rows": lambda t: t.x.sort()[0],
    "sort_columns": lambda t: t.x.sort(0)[0],
    "sort_integers": lambda t: t.x.sort()[0],
    "argsort": lambda t: t.x.argsort(stable=True),
    "searchsorted": lambda t: torch.searchsorted(t.x.sort()[0], t.y),
    "unique": lambda t: torch.unique(t.x, return_inverse=True, return_counts=True),
    "boolean_mask": lambda t: t.x[t.b],
    "boolean_mask_rows": lambda t: t.x[t.b],
    "nonzero": lambda t: t.b.nonzero(),
    "dynamic_partition": lambda t: t.x[t.i == 1],
    "segment_sum": lambda t: torch.zeros(1000, 64).index_add(0, t.i, t.x),
    "segment_mean": _segment_mean,
    "segment_max": _segments("amax"),
    "bincount": lambda t: torch.bincount(t.i, minlength=1000),
    "histogram": lambda t: torch.histc(t.x, 100, -2, 2),
    "scatter_add_elements": lambda t: t.x.index_add(0, t.i, t.u),
    "scatter_update_rows": _set_rows,
    "gather_rows": lambda t: t.x[t.i],
    "gather_columns": lambda t: t.x[:, t.i],
    "take_along_axis": lambda t: t.x.gather(1, t.i),
    "cumsum_rows": lambda t: t.x.cumsum(1),
    "cumsum_columns": lambda t: t.x.cumsum(0),
    "cumsum_vector": lambda t: t.x.cumsum(0),
    "cumprod_rows": lambda t: t.x.cumprod(1),
    "cummax_rows": lambda t: t.x.cummax(1)[0],
    "logcumsumexp_rows": lambda t: t.x.logcumsumexp(1),
    "diag_part": lambda t: t.x.diagonal(dim1=1, dim2=2).contiguous(),
    "diag": lambda t: torch.diag_embed(t.x),
    "band_part": _band,
    "tril": lambda t: t.x.tril(),
    "one_hot": lambda t: F.one_hot(t.i, 1000).float(),
    "concat": lambda t: torch.cat([t.x, t.y], 1),
    "tile": lambda t: t.x.repeat(2, 2),
    "reverse": lambda t: t.x.flip(1),
    "max_rows": lambda t: t.x.amax(1),
    "argmax_rows": lambda t: t.x.argmax(1),
    "argmax_columns": lambda t: t.x.argmax(0),
    "variance": lambda t: t.x.var(0, correction=0),
    "einsum_batched": lambda t: torch.einsum("bij,bjk->bik", t.x, t.y),
    "einsum_scores": lambda t: torch.einsum("bthd,bshd->bhts", t.x, t.y),
    "einsum_bilinear": lambda t: F.bilinear(t.x, t.y, t.w),
    "attend": _attend(False),
    "attend_causal": _attend(True),
    "simple_rnn": lambda t: _recurrent(torch._VF.rnn_tanh, _zero(), t),
    "lstm": lambda t: _recurrent(torch._VF.lstm, (_zero(), _zero()), t),
    "gru": lambda t: _recurrent(torch._VF.gru, _zero(), t),
}


class Tensors:
    """The feeds and the trained variables of a task, in torch's form."""


def _arranged(array, feed, is_last):
    tensor, axes = torch.tensor(array), range(array.ndim)
    if feed.kind == "image":
        tensor = tensor.permute(0, axes[-1], *axes[1:-1])
    elif feed.kind == "kernel":
        tensor = tensor.permute(axes[-1], axes[-2], *axes[:-2])
    # Integers are indices, unless they are sorted: for those the width makes no difference.
    tensor = tensor.long() if feed.dtype == "i32" else tensor
    last = {4: torch.channels_last, 5: torch.channels_last_3d}
    if is_last and tensor.ndim in last:
        return tensor.contiguous(memory_format=last[tensor.ndim])
    return tensor.contiguous()


def _set_variables(t, name, layer):
    """The variables of the part; those of recurrent ones with the gates in torch's order, i, f, j, o."""
    own = protocol.variables("layers.safetensors")
    own = {key[len(name) + 3 :]: v for key, v in own.items() if key.startswith(f"{name}_m.")}
    is_recurrent = "u" in own
    for key, value in own.items():
        if name == "lstm":
            i, j, f, o = np.split(value, 4, axis=-1)
            value = np.concatenate([i, f + 1 if key == "b" else f, j, o], axis=-1)
        setattr(t, key, torch.tensor(value.T.copy() if is_recurrent else value))
    if is_recurrent:
        rest = t.c if name == "gru" else torch.zeros(0)
        t.c = torch.cat([torch.zeros(len(t.b) - len(rest)), rest])
    for key in layer.trained:
        getattr(t, key).requires_grad_()


def _make_call(name, has_gradient, is_last):
    layer, t = LAYERS[name], Tensors()
    for key, feed in layer.feeds.items():
        array = protocol.feed(task_name(name, has_gradient), key, DTYPES[feed.dtype], feed.shape)
        setattr(t, key, _arranged(array, feed, is_last))
    if layer.part:
        _set_variables(t, name, layer)
    if not has_gradient:
        for key in layer.trained:
            getattr(t, key).requires_grad_(False)
        return lambda: CALLS[name](t)
    leaves = [getattr(t, key).requires_grad_() for key in (*layer.grads, *layer.trained)]

    weight = CALLS[name](t).detach().square()
    return lambda: torch.autograd.grad(CALLS[name](t), leaves, weight)


def _seconds(call):
    call()
    start = time.perf_counter()
    for _ in range(3):
        call()
    return time.perf_counter() - start


def make_task(task):
    name, _, kind = task.rpartition("_")
    calls = [_make_call(name, kind == "gradient", is_last) for is_last in (False, True)]
    call = min(calls, key=_seconds)
    results = call()
    results = [results] if isinstance(results, torch.Tensor) else results
    return call, [protocol.magnitude(result.detach().numpy())[0] for result in results]


protocol.serve("torch", torch.__version__, make_task)
