"""The tasks of `layers`: their feeds, and their expressions in a graph. torch_layers.py has the same for torch.

The task NAME_forward calls the expression; NAME_gradient calls it and the gradients of a third of the sum
of its cubes with respect to `grads`, and to the `trained` variables of the part `m`. A gradient that is `sparse`
is made a tensor. The results of a layer that `draws` are not compared.
"""


class Feed:
    """A tensor: floats, or integers below a bound. Images and kernels have their channels last in a graph
    and where torch wants them there."""

    def __init__(self, *shape, kind="plain", dtype="f32", below=None):
        self.shape, self.kind, self.dtype, self.below = shape, kind, dtype, below

    def text(self):
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


def image(*shape):
    return Feed(*shape, kind="image")


def kernel(*shape):
    return Feed(*shape, kind="kernel")


def integers(below, *shape):
    return Feed(*shape, dtype="i32", below=below)


def flags(*shape):
    return Feed(*shape, dtype="bool", below=2)


class Layer:
    def __init__(self, expression, grads=(), part="", uses="", trained=(), results=1, sparse=False, draws=False, **feeds):
        self.expression, self.feeds, self.grads = expression, feeds, grads
        self.part, self.uses, self.trained, self.results = part, uses, trained, results
        self.sparse, self.draws = sparse, draws


SAME = 'padding: "same"'
ROWS, SQUARE = Feed(512, 768), Feed(1024, 1024)
PLACES = integers(1000, 100000)
FEATURES, MAPS = image(8, 28, 28, 128), image(8, 56, 56, 64)
HEADS = Feed(8, 8, 128, 64)
SEQUENCE = Feed(20, 35, 256)
OF_KERNEL = ("x", "w")


def convolution(x, w, options=SAME, name="convolution"):
    return Layer(f"{name}(x, w, {options})", OF_KERNEL, x=x, w=w)


def on_images(expression, x=MAPS, grads=("x",), **more):
    return Layer(expression, grads, x=x, **more)


def normal(part, x=FEATURES, call="m(x)", trained=("scale", "shift")):
    return Layer(call, ("x",), part=part, uses="layers", trained=trained, x=x)


def resized(mode, size=112):
    return Layer(
        f'resize(x, size: [{size}, {size}], mode: "{mode}")',
        ("x",),
        uses="images",
        x=image(4, 56, 56, 32),
    )


LAYERS = {
    "conv1d": convolution(image(16, 512, 64), kernel(5, 64, 64)),
    "conv2d_first": convolution(image(8, 112, 112, 3), kernel(7, 7, 3, 64), f"{SAME}, stride: 2"),
    "conv2d_3x3": convolution(FEATURES, kernel(3, 3, 128, 128)),
    "conv2d_1x1": convolution(FEATURES, kernel(1, 1, 128, 256)),
    "conv2d_stride2": convolution(FEATURES, kernel(3, 3, 128, 128), f"{SAME}, stride: 2"),
    "conv2d_dilated": convolution(FEATURES, kernel(3, 3, 128, 128), f"{SAME}, dilation: 2"),
    "conv2d_groups": convolution(FEATURES, kernel(3, 3, 16, 128), f"{SAME}, groups: 8"),
    "conv2d_to_1": convolution(FEATURES, kernel(3, 3, 128, 1)),
    "depthwise": convolution(MAPS, kernel(3, 3, 1, 64), f"{SAME}, groups: 64"),
    "depthwise_stride2": convolution(MAPS, kernel(3, 3, 1, 64), f"{SAME}, groups: 64, stride: 2"),
    "depthwise_7x7": convolution(image(8, 28, 28, 96), kernel(7, 7, 1, 96), f"{SAME}, groups: 96"),
    "conv3d": convolution(image(2, 16, 28, 28, 16), kernel(3, 3, 3, 16, 32)),
    "conv_transpose": convolution(
        image(8, 14, 14, 128),
        kernel(4, 4, 64, 128),
        "pads: [1, 1, 1, 1], stride: 2",
        "convolution_transpose",
    ),
    "max_pool_2": on_images("max_pool(x, size: 2)"),
    "max_pool_3": on_images("max_pool(x, size: 3, stride: 2, pads: [1, 1, 1, 1])"),
    "max_pool_index": on_images("max_pool_with_indices(x, size: 2)", grads=(), results=2),
    "avg_pool_2": on_images("avg_pool(x, size: 2)"),
    "avg_pool_3": on_images("avg_pool(x, size: 3, stride: 1, pads: [1, 1, 1, 1])"),
    "global_avg_pool": on_images("global_avg_pool(x)", uses="layers"),
    "batch_norm": normal("batch_norm()", call="m(x, train: true)"),
    "batch_norm_infer": normal("batch_norm()", call="m(x, train: false)", trained=()),
    "layer_norm": normal("layer_norm()", ROWS),
    "rms_norm": normal("rms_norm()", ROWS, trained=("scale",)),
    "group_norm": normal("group_norm(8)"),
    "instance_norm": normal("instance_norm()"),
    "response_norm": on_images("local_response_norm(x, radius: 2, alpha: 1e-4)", FEATURES),
    "dropout": Layer(
        "dropout(x, rate: 0.1, train: true)", ("x",), uses="layers", draws=True, x=ROWS,
    ),
    "embedding": Layer(
        "gather(w, i)", ("w",), sparse=True, w=Feed(10000, 256), i=integers(10000, 32, 128),
    ),
    "dense": Layer(
        "m(x)", ("x",), part="dense(768)", uses="layers", trained=("w", "b"), x=ROWS
    ),
    "resize_nearest": resized("nearest"),
    "resize_linear": resized("linear"),
    "resize_cubic": resized("cubic"),
    "resize_area": resized("area", 28),
    "space_to_depth": on_images("space_to_depth(x, 2)"),
    "depth_to_space": on_images("depth_to_space(x, 2)"),
    "space_to_batch": on_images("space_to_batch(x, block: [2, 2], low: [0, 0], high: [0, 0])"),
    "pad_reflect": on_images('pad_with(x, low: [0, 1, 1, 0], high: [0, 1, 1, 0], mode: "reflect")'),
    "roll": on_images("roll(x, 3, axis: 1)"),
    "to_channels_first": Layer("transpose(x, [0, 3, 1, 2])", x=Feed(8, 56, 56, 64)),
    "softmax": Layer("softmax(x, axis: -1)", ("x",), x=ROWS),
    "softmax_columns": Layer("softmax(x, axis: 0)", ("x",), x=ROWS),
    "cross_entropy": Layer(
        "sparse_softmax_cross_entropy(x, i)", ("x",), x=Feed(700, 10000), i=integers(10000, 700)
    ),
    "smoothed_cross_entropy": Layer(
        "smoothed_cross_entropy(x, i, smoothing: 0.1)",
        ("x",),
        uses="losses",
        x=Feed(700, 1000),
        i=integers(1000, 700),
    ),
    "huber": Layer("huber(x, y)", ("x",), uses="losses", x=SQUARE, y=SQUARE),
    "binary_cross_entropy": Layer(
        "binary_cross_entropy(x, sigmoid(y))", ("x",), uses="losses", x=SQUARE, y=SQUARE
    ),
    "top_5_of_10000": Layer("top_k(x, 5)", results=2, x=Feed(64, 10000)),
    "top_5_values": Layer("top_k(x, 5).values", ("x",), x=Feed(64, 10000)),
    "top_1_of_1000000": Layer("top_k(x, 1)", results=2, x=Feed(1000000)),
    "top_100_of_1000": Layer("top_k(x, 100)", results=2, x=Feed(512, 1000)),
    "sort_rows": Layer("sort(x)", ("x",), x=Feed(64, 10000)),
    "sort_short_rows": Layer("sort(x)", ("x",), x=Feed(8192, 64)),
    "sort_columns": Layer("sort(x, axis: 0)", x=Feed(1000, 512)),
    "sort_integers": Layer("sort(x)", x=integers(1 << 30, 1000000)),
    "argsort": Layer("argsort(x)", x=Feed(100000)),
    "searchsorted": Layer("searchsorted(sort(x), y)", x=Feed(1000), y=Feed(100000)),
    "unique": Layer("unique(x)", results=3, x=PLACES),
    "boolean_mask": Layer("boolean_mask(x, b)", x=Feed(1000000), b=flags(1000000)),
    "boolean_mask_rows": Layer("boolean_mask(x, b)", ("x",), x=Feed(20000, 64), b=flags(20000)),
    "nonzero": Layer("nonzero(b)", b=flags(1000, 1000)),
    "dynamic_partition": Layer(
        "dynamic_partition(x, i, count: 4)[1]", x=Feed(20000, 64), i=integers(4, 20000),
    ),
    "segment_sum": Layer(
        "segment_sum(x, i, 1000)", ("x",), x=Feed(20000, 64), i=integers(1000, 20000),
    ),
    "segment_mean": Layer(
        "segment_mean(x, i, 1000)", ("x",), x=Feed(20000, 64), i=integers(1000, 20000),
    ),
    "segment_max": Layer(
        "segment_max(x, i, 1000)", ("x",), x=Feed(20000, 64), i=integers(1000, 20000),
    ),
    "bincount": Layer("bincount(i, 1000)", i=PLACES),
    "histogram": Layer("histogram(x, 100, low: -2.0, high: 2.0)", x=Feed(1000000)),
    "scatter_add_elements": Layer(
        "scatter_add(x, i, u)", ("u",), x=Feed(1000), i=PLACES, u=Feed(100000),
    ),
    "scatter_update_rows": Layer(
        "scatter_update(x, i, u)", x=Feed(10000, 64), i=integers(10000, 2000), u=Feed(2000, 64)
    ),
    "gather_rows": Layer(
        "gather(x, i)", ("x",), sparse=True, x=Feed(20000, 64), i=integers(20000, 20000),
    ),
    "gather_columns": Layer("gather(x, i, axis: 1)", ("x",), x=SQUARE, i=integers(1024, 512)),
    "take_along_axis": Layer(
        "take_along_axis(x, i, axis: 1)", ("x",), x=SQUARE, i=integers(1024, 1024, 256),
    ),
    "cumsum_rows": Layer("cumsum(x, axis: 1)", ("x",), x=SQUARE),
    "cumsum_columns": Layer("cumsum(x, axis: 0)", ("x",), x=SQUARE),
    "cumsum_vector": Layer("cumsum(x, axis: 0)", ("x",), x=Feed(1000000)),
    "cumprod_rows": Layer("cumprod(x, axis: 1)", ("x",), x=Feed(4096, 64)),
    "cummax_rows": Layer("cummax(x, axis: 1)", x=SQUARE),
    "logcumsumexp_rows": Layer("logcumsumexp(x, axis: 1)", ("x",), x=SQUARE),
    "diag_part": Layer("diag_part(x)", ("x",), x=Feed(8, 512, 512)),
    "diag": Layer("diag(x)", x=Feed(8, 512)),
    "band_part": Layer("band_part(x, 2, 2)", ("x",), x=Feed(8, 512, 512)),
    "tril": Layer("tril(x)", ("x",), x=Feed(8, 512, 512)),
    "one_hot": Layer("one_hot(i, 1000, dtype: f32)", i=integers(1000, 1000)),
    "concat": Layer("concat([x, y], axis: 1)", ("x", "y"), x=ROWS, y=ROWS),
    "tile": Layer("tile(x, [2, 2])", ("x",), x=ROWS),
    "reverse": Layer("reverse(x, axis: [1])", x=SQUARE),
    "max_rows": Layer("max(x, axis: 1)", ("x",), x=SQUARE),
    "argmax_rows": Layer("argmax(x, axis: 1)", x=SQUARE),
    "argmax_columns": Layer("argmax(x, axis: 0)", x=SQUARE),
    "variance": Layer("variance(x, axis: [0])", ("x",), x=SQUARE),
    "einsum_batched": Layer(
        'einsum("b i j, b j k -> b i k", x, y)',
        ("x", "y"),
        x=Feed(16, 128, 128),
        y=Feed(16, 128, 128),
    ),
    "einsum_scores": Layer(
        'einsum("b t h d, b s h d -> b h t s", x, y)',
        ("x", "y"),
        x=Feed(8, 128, 8, 64),
        y=Feed(8, 128, 8, 64),
    ),
    "einsum_bilinear": Layer(
        'einsum("n i, o i j, n j -> n o", x, w, y)',
        ("x", "w", "y"),
        x=Feed(128, 128),
        w=Feed(64, 128, 128),
        y=Feed(128, 128),
    ),
    "attend": Layer("attend(q, k, v)", ("q", "k", "v"), uses="layers", q=HEADS, k=HEADS, v=HEADS),
    "attend_causal": Layer(
        "attend(q, k, v, causal: true)", ("q", "k", "v"), uses="layers", q=HEADS, k=HEADS, v=HEADS
    ),
    "simple_rnn": Layer(
        "m(x).y",
        ("x",),
        part="simple_rnn(256)",
        uses="layers",
        trained=("w", "u", "b"),
        x=SEQUENCE,
    ),
    "lstm": Layer(
        "m(x).y", ("x",), part="lstm(256)", uses="layers", trained=("w", "u", "b"), x=SEQUENCE,
    ),
    "gru": Layer(
        "m(x).y", ("x",), part="gru(256)", uses="layers", trained=("w", "u", "b"), x=SEQUENCE,
    ),
}


def _entry(name, layer, has_gradient):
    count, call = layer.results, layer.expression
    if layer.part:
        call = f"{name}_{call}"
    lines = [f"{', '.join(f'y{i}' for i in range(count))} = {call}"]
    if has_gradient:
        count = len(layer.grads) + len(layer.trained)
        own = " + trainable(loss)" if layer.trained else ""
        lines += ["loss = sum(y0 * y0 * y0) / 3.0"]
        lines += [f"g = gradients(loss, [{', '.join(layer.grads)}]{own})"]
        if layer.sparse:
            zeros = f"zeros({layer.feeds[layer.grads[0]].text()})"
            lines += [f"g = [scatter_add({zeros}, g[0].indices, g[0].rows, outside: \"skip\")]"]
    values = ", ".join(f"g[{i}]" if has_gradient else f"y{i}" for i in range(count))
    feeds = ", ".join(f"{feed}: {f.text()}" for feed, f in layer.feeds.items())
    types = ", ".join(f"r{i}: T{i}[..s{i}]" for i in range(count))
    body = "\n".join(f"  {line}" for line in [*lines, f"return {values}"])
    return f"entry {task_name(name, has_gradient)}({feeds}) -> ({types}) {{\n{body}\n}}\n"


def task_name(name, has_gradient):
    return name + ("_gradient" if has_gradient else "_forward")


def graph(tasks):
    """A graph with an entry for each (name, whether with gradients); variables are NAME_m.VARIABLE."""
    layers = {name: LAYERS[name] for name, _ in tasks}
    uses = {(l.uses, (l.part or l.expression).split("(")[0]) for l in layers.values() if l.uses}
    lines = [f"use {file}: {name}" for file, name in sorted(uses)]
    lines += [f"let {name}_m = {layer.part}" for name, layer in layers.items() if layer.part]
    entries = [_entry(name, LAYERS[name], has_gradient) for name, has_gradient in tasks]
    return "\n".join(["graph layers", *lines, "", *entries])
