"""structures.py FOLDER: checks operations on whole tensors for NaN, infinities, zeros and the limits of integers.

Each case is what a description in docs/generated/dfg.md says of an operation, in NumPy's words: a call of the
language, and its result. Compiled code at -O3 and -O0 and the oracle have to agree with it. Special elements
stand among ordinary ones, in rows longer than a vector, so that nothing leaks from a lane or a tile into another.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np

INPUTS = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(INPUTS / "Inputs"), str(INPUTS / "operations" / "Inputs")]

import windows as w
from targets import load, targets_of

NAN, INF = np.nan, np.inf
random = np.random.RandomState(3)


def spoilt(*shape):
    """Ordinary numbers, of which some are special."""
    x = random.uniform(0.5, 2, size=shape) * random.choice([-1, 1], size=shape)
    places = random.permutation(x.size)[: max(x.size // 25, 6)]
    x.flat[places] = np.resize([NAN, INF, -INF, 0.0, -0.0, INF], len(places))
    return x.astype(np.float32)


def ordinary(*shape):
    return random.uniform(0.5, 2, size=shape).astype(np.float32) * random.choice([-1, 1], size=shape).astype(np.float32)


def limits(*shape):
    return random.choice([127, -128, 126, 1, -1, 0, 100], size=shape).astype(np.int8)


FEEDS = {
    "a": spoilt(21, 35), "b": ordinary(35, 18), "matrix": spoilt(20, 20), "v": spoilt(40),
    "ai": limits(5, 20), "bi": limits(20, 7), "small": limits(4, 20), "nothing": np.zeros((3, 0), np.float32),
    "nothings": np.zeros((0, 4), np.float32),
    "image": spoilt(2, 9, 9, 3), "kernel": ordinary(3, 3, 3, 4), "grad": spoilt(2, 7, 7, 4),
    "plain": ordinary(2, 9, 9, 3), "plain_grad": ordinary(2, 7, 7, 4),
    "xi": limits(1, 12, 2), "ki": limits(3, 2, 2),
    "row": np.array([[1, NAN, 3, 2], [1, INF, 3, 2], [1, -INF, 3, 2], [-INF] * 4, [INF, -INF, 0, 0], [0, -0.0, 1, -1]],
                    np.float32),
    "share": np.array([[0.5, 0.5, 0, 0]] * 6, np.float32), "label": np.array([2, 0, 2, 1, 0, 0], np.int32),
    "order": np.array([[2, NAN, -0.0, 0, INF, -INF, NAN, -1, 5, 0]], np.float32),
    "places": np.array([3, 0, 3, 1], np.int32), "wild": np.array([3, -1, 900, 0], np.int32),
    "updates": spoilt(4, 35), "ups": limits(4, 20),
    "x": np.array([NAN, INF, -INF, 0.0, -0.0, 1000.0, -1000.0], np.float32),
}  # fmt: skip
CASES = {}


def case(name, text, expected, rtol=2e-5):
    CASES[name] = (text, expected, rtol)


def sequence(step, x, start, axis=0):
    y, carried = np.zeros_like(x), start
    for i in range(x.shape[axis]):
        carried = step(carried, x[i])
        y[i] = carried
    return y


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def log_softmax(x):
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def sums(f):
    case("matmul", "matmul(a, b)", f["a"].astype(np.float64) @ f["b"])
    case("matmul_transposed", "matmul(b, a, transpose_lhs: true, transpose_rhs: true)",
         f["b"].T.astype(np.float64) @ f["a"].T)
    case("matmul_integers", "matmul(ai, bi)", f["ai"] @ f["bi"])
    case("matmul_nothing", "matmul(nothing, nothings)", np.zeros((3, 4)))
    case("einsum", 'einsum("m k, k n -> n m", a, b)', (f["a"].astype(np.float64) @ f["b"]).T)
    case("contract", 'contract("m k, k n -> n m", a, b)', (f["a"].astype(np.float64) @ f["b"]).T)
    case("einsum_diagonal", 'einsum("i i -> i", matrix)', np.diag(f["matrix"]))
    case("einsum_integers", 'einsum("m k, k n -> m n", ai, bi)', f["ai"] @ f["bi"])
    case("convolution", "convolution(image, kernel)", w.convolution(f["image"], f["kernel"]))
    case("convolution_same", 'convolution(image, kernel, padding: "same")',
         w.convolution(f["image"], f["kernel"], padding="same"))
    case("convolution_integers", "convolution(xi, ki)", w.convolution(f["xi"], f["ki"]))
    case("convolution_transpose", "convolution_transpose(grad, kernel)",
         w.convolution_transpose(f["grad"], f["kernel"]))
    case("convolution_transpose_stride", "convolution_transpose(grad, kernel, stride: 2)",
         w.convolution_transpose(f["grad"], f["kernel"], stride=2))
    case("convolution_transpose_gaps", "convolution_transpose(grad, kernel, stride: 4)",
         w.convolution_transpose(f["grad"], f["kernel"], stride=4))
    case("convolution_weights", "convolution_weights(plain, grad, size: [3, 3])",
         w.convolution_weights(f["plain"], f["grad"], [3, 3]))
    case("convolution_weights_of", "convolution_weights(image, plain_grad, size: [3, 3])",
         w.convolution_weights(f["image"], f["plain_grad"], [3, 3]))
    case("scatter_add", "scatter_add(a, places, updates)", added(f["a"], f["places"], f["updates"]))
    case("scatter_add_integers", "scatter_add(small, places, ups)", added(f["small"], f["places"], f["ups"]))
    case("sum", "sum(a, axis: 1)", f["a"].astype(np.float64).sum(1))
    case("column_sum", "sum(a, axis: 0)", f["a"].astype(np.float64).sum(0))
    case("mean", "mean(row, axis: 1)", f["row"].mean(1))
    case("prod", "prod(row, axis: 1)", f["row"].prod(1))


def added(x, places, updates):
    y = x.copy()
    np.add.at(y, places, updates)
    return y


def neighbours(x, radius=1):
    squares = x.astype(np.float64) ** 2
    total = np.zeros_like(squares)
    for i in range(x.shape[-1]):
        total[..., i] = squares[..., max(i - radius, 0) : i + radius + 1].sum(-1)
    return x / (2.0 + 0.5 * total) ** 0.75


def rows(f):
    row, order = f["row"], f["order"]
    case("softmax", "softmax(row, axis: -1)", softmax(row))
    case("log_softmax", "log_softmax(row, axis: -1)", log_softmax(row))
    losses = -log_softmax(row)
    case("softmax_cross_entropy", "softmax_cross_entropy(row, share)",
         np.where(f["share"] == 0, 0, f["share"] * losses).sum(-1))
    case("sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy(row, label)",
         losses[np.arange(6), f["label"]])
    case("local_response_norm", "local_response_norm(row, radius: 1, bias: 2.0, alpha: 0.5, beta: 0.75)",
         neighbours(row))
    case("logsumexp", "logsumexp(row, axis: 1)", np.array([NAN, INF, np.log(np.exp([1, 3, 2]).sum()), -INF, INF, np.log(2 + np.e + 1 / np.e)]))
    largest = np.array([[1, 6, 4, 8, 0, 2, 3, 9, 7, 5]])
    case("arg_top_k", "arg_top_k(order, 10)", largest)
    case("arg_top_k_smallest", "arg_top_k(order, 10, largest: false)", np.array([[5, 7, 2, 3, 9, 0, 8, 4, 1, 6]]))
    case("top_k", "top_k(order, 5)", order[:, largest[0, :5]], 0)
    case("sort", "sort(order)", order[:, [5, 7, 2, 3, 9, 0, 8, 4, 1, 6]], 0)
    case("argmax", "argmax(row, axis: 1)", np.array([1, 1, 2, 0, 0, 2]))
    case("max_pool", "max_pool(image, size: 3)", w.max_pool(f["image"], 3))
    case("avg_pool", "avg_pool(image, size: 3)", w.avg_pool(f["image"], 3))


def scans(f):
    v = f["v"]
    with np.errstate(all="ignore"):
        case("cumsum", "cumsum(v)", np.cumsum(v))
        case("cumsum_integers", "cumsum(small, axis: 1)", np.cumsum(f["small"], 1, dtype=np.int8))
        case("cumprod", "cumprod(v)", np.cumprod(v))
        case("cumprod_integers", "cumprod(small, axis: 1)", np.cumprod(f["small"], 1, dtype=np.int8))
        case("cummax", "cummax(v)", np.maximum.accumulate(v))
        case("cummin", "cummin(v)", np.minimum.accumulate(v))
        case("cummax_exclusive", "cummax(v, exclusive: true)", np.append(np.float32(-INF), np.maximum.accumulate(v)[:-1]))
        case("cummin_exclusive", "cummin(v, exclusive: true)", np.append(np.float32(INF), np.minimum.accumulate(v)[:-1]))
        case("logcumsumexp", "logcumsumexp(v)", np.logaddexp.accumulate(v))
        case("linear_recurrence", "linear_recurrence(v, v)", recurrence(v, v))
        case("linear_recurrence_integers", "linear_recurrence(small[0], small[0])", recurrence(f["small"][0], f["small"][0]))


def recurrence(factor, x):
    y, last = np.zeros_like(x), x.dtype.type(0)
    for i in range(len(x)):
        last = factor[i] * last + x[i]
        y[i] = last
    return y


def moves(f):
    a, places = f["a"], f["places"]
    case("gather", "gather(a, places)", a[places], 0)
    skipped = np.zeros((4, 35), np.float32)
    skipped[[0, 3]] = a[[3, 0]]
    case("gather_skip", 'gather(a, wild, outside: "skip")', skipped, 0)
    case("scatter_update", "scatter_update(a, places, updates)", updated(a, places, f["updates"]), 0)
    case("slice", "a[2:7, 3:30:4]", a[2:7, 3:30:4], 0)
    case("reverse", "reverse(a, axis: [0, 1])", a[::-1, ::-1], 0)
    case("pad", "pad(a, low: [1, 0], high: [0, 2], value: -inf)", np.pad(a, [(1, 0), (0, 2)], constant_values=-INF), 0)
    case("transpose", "transpose(a)", a.T, 0)
    case("reshape", "reshape(a, [15, 49])", a.reshape(15, 49), 0)
    case("concat", "concat([a, a], axis: 1)", np.concatenate([a, a], 1), 0)
    case("stack", "stack([a, a], axis: 1)", np.stack([a, a], 1), 0)
    case("tile", "tile(a, [2, 1])", np.tile(a, (2, 1)), 0)
    case("split", "split(a, 5, axis: 1)[2]", a[:, 14:21], 0)
    case("rearrange", 'rearrange(a, "(p q) r -> p r q", p: 7)', a.reshape(7, 3, 35).transpose(0, 2, 1), 0)
    case("tril", "tril(matrix)", np.tril(np.where(np.isnan(f["matrix"]), 7, f["matrix"])), 0)
    lower = np.tril(np.ones((20, 20), bool))
    CASES["tril"] = (CASES["tril"][0], np.where(lower, f["matrix"], np.float32(0)), 0)
    case("triu", "triu(matrix)", np.where(lower.T, f["matrix"], np.float32(0)), 0)
    case("causal_mask", "causal_mask(matrix)", np.where(lower, f["matrix"], np.float32(-INF)), 0)
    case("select", "select(matrix > 0.0, matrix, 5.0)", np.where(f["matrix"] > 0, f["matrix"], np.float32(5)), 0)
    case("integers", "transpose(small)", f["small"].T)
    case("list", "stack(write(write(list[f32[35]](), 0, a[0]), 1, a[1]), size: 2)", a[:2], 0)
    case("counted", "iota(128, dtype: i8)", np.arange(128).astype(np.int8))
    case("wrapped", "cast(iota(300), i8)", np.arange(300).astype(np.int8))
    case("one_hot", "one_hot(wild, 4)", np.eye(4, dtype=np.float32)[[3, 0, 0, 0]] * [[1], [0], [0], [1]])


def updated(x, places, updates):
    y = x.copy()
    y[places] = updates
    return y


def functions():
    """One after the other: NaN, the infinities, zeros, a large number and its negative."""
    table = {
        "sinh(x)": [NAN, INF, -INF, 0.0, -0.0, INF, -INF],
        "cosh(x)": [NAN, INF, INF, 1, 1, INF, INF],
        "asinh(x)": [NAN, INF, -INF, 0.0, -0.0, np.arcsinh(1000), -np.arcsinh(1000)],
        "acosh(x)": [NAN, INF, NAN, NAN, NAN, np.arccosh(1000), NAN],
        "atanh(x)": [NAN, NAN, NAN, 0.0, -0.0, NAN, NAN],
        "tanh(x)": [NAN, 1, -1, 0.0, -0.0, 1, -1],
        "leaky_relu(x, slope: 0.5)": [NAN, INF, -INF, 0.0, -0.0, 1000, -500],
        "leaky_relu(x, slope: 0.0)": [NAN, INF, NAN, 0.0, -0.0, 1000, -0.0],
        "square(x)": [NAN, INF, INF, 0.0, 0.0, 1e6, 1e6],
        "softplus(x)": [NAN, INF, 0.0, np.log(2), np.log(2), 1000, 0.0],
        "softsign(x)": [NAN, NAN, NAN, 0.0, -0.0, 1000 / 1001, -1000 / 1001],
        "selu(x)": [NAN, INF, -1.7580993, 0.0, 0.0, 1050.7009, -1.7580993],
        "elu(x)": [NAN, INF, -1, 0.0, 0.0, 1000, -1],
        "gelu(x)": [NAN, INF, NAN, 0.0, -0.0, 1000, -0.0],
        "silu(x)": [NAN, INF, NAN, 0.0, -0.0, 1000, -0.0],
        "sigmoid(x)": [NAN, 1, 0, 0.5, 0.5, 1, 0],
        "erfc(x)": [NAN, 0, 2, 1, 1, 0, 2],
        "exp(x)": [NAN, INF, 0, 1, 1, INF, 0],
        "expm1(x)": [NAN, INF, -1, 0.0, -0.0, INF, -1],
        "log1p(x)": [NAN, INF, NAN, 0.0, -0.0, np.log(1001), NAN],
        "log(x)": [NAN, INF, NAN, -INF, -INF, np.log(1000), NAN],
        "rsqrt(x)": [NAN, 0, NAN, INF, -INF, 1000**-0.5, NAN],
        "reciprocal(x)": [NAN, 0.0, -0.0, INF, -INF, 1e-3, -1e-3],
        "is_nan(x)": [True] + 6 * [False],
        "sign(x)": [NAN, 1, -1, 0.0, -0.0, 1, -1],
        "sigmoid_cross_entropy(x, 0.0)": [NAN, NAN, NAN, np.log(2), np.log(2), 1000, 0],
        "sigmoid_cross_entropy(x, 0.5)": [NAN, NAN, INF, np.log(2), np.log(2), 500, 500],
    }
    for number, (text, values) in enumerate(table.items()):
        case(f"f{number}", text, np.array(values))


def write_graph(path):
    kinds = {"f": "f32", "b": "bool", "i": "i32"}

    def typed(name, x):
        return f"{name}: {'i8' if x.dtype == np.int8 else kinds[x.dtype.kind]}{list(x.shape)}"

    feeds = ", ".join(typed(name, x) for name, x in FEEDS.items())
    fetches = ", ".join(typed("r_" + name, x) for name, (_, x, _) in CASES.items())
    with open(path, "w", encoding="utf-8") as file:
        file.write("graph structures edition 1\n\n")
        file.write(f"entry run({feeds}) -> ({fetches}) {{\n")
        for name, (text, _, _) in CASES.items():
            rest = ", _" if text.startswith("top_k") else ""  # the places, a case of its own
            file.write(f"  r_{name}{rest} = {text}\n")
        file.write(f"  return {', '.join('r_' + n for n in CASES)}\n}}\n")


def oracle(graph, folder):
    command = ["tfc", "run", graph, "--reference", "--fetch-dir", folder]
    for name, value in FEEDS.items():
        path = os.path.join(folder, name + ".npy")
        np.save(path, value)
        command += ["--feed", f"{name}={path}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [np.load(os.path.join(folder, f"r_{name}.npy")) for name in CASES]


def compiled(graph, folder, level, target):
    library = os.path.join(folder, f"structures{level}.{target}.so")
    return load(target, graph, library, level, threads=1).call("run", **FEEDS)


def same(got, expected, rtol, name):
    got = np.asarray(got)
    if got.shape != expected.shape:
        return False
    if got.dtype.kind != "f":
        return np.array_equal(got, expected)
    near = np.isclose(got, expected, rtol=rtol, atol=rtol, equal_nan=True)
    zeros = (expected == 0) & (rtol == 0 or name.startswith("f")) & ("lu(" not in CASES[name][0])
    return bool(np.all(near & (~zeros | (np.signbit(got) == np.signbit(expected)))))


def main(folder):
    os.makedirs(folder, exist_ok=True)
    with np.errstate(all="ignore"):
        for family in sums, rows, scans, moves:
            family(FEEDS)
        functions()
    graph = os.path.join(folder, "structures.graph")
    write_graph(graph)
    wrong = 0
    ways = {f"{level} for {target}": compiled(graph, folder, level, target)
            for level in ("-O3", "-O0") for target in targets_of(f"structures {level}")}
    ways["the oracle"] = oracle(graph, folder)
    for way, results in ways.items():
        for name, got in zip(CASES, results):
            text, expected, rtol = CASES[name]
            if not same(got, expected, rtol, name):
                wrong += 1
                print(f"{text} by {way} gives\n{got}\nbut not\n{expected}")
    print(f"{len(CASES)} cases, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
