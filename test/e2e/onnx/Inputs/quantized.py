"""Quantised networks whose scales are powers of two, so that f32 computes them without rounding and ties occur: the
outputs must be the integers of NumPy. All cases are one model, which is compiled for several processors; of these,
cascadelake has an instruction for products of bytes."""

import os
import subprocess
import sys

import numpy as np
from onnx_case import MODEL

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
from targets import EMULATED, TARGETS, load

random = np.random.default_rng(4)
KINDS = {"u8": np.uint8, "i8": np.int8}


def rounded(y, scale, zero, kind):
    info = np.iinfo(KINDS[kind])
    return np.clip(np.rint(y / scale) + zero, info.min, info.max).astype(KINDS[kind])


class Tensor:
    """A dequantised tensor: its name in the model and its numbers."""

    def __init__(self, name, numbers):
        self.name, self.numbers = name, numbers


class Network:
    def __init__(self):
        self.header, self.inits, self.nodes, self.outputs = [], [], [], []
        self.feeds, self.expected, self.count = {}, {}, 0

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def init(self, kind, value):
        name, value = self.name("c"), np.asarray(value)
        dims = ",".join(map(str, value.shape))
        self.inits.append(f"init {name} {kind}[{dims}] " + " ".join(map(str, value.ravel().tolist())))
        return name

    def node(self, text):
        name = self.name("v")
        self.nodes.append(f"{name} = {text}")
        return name

    def feed(self, shape, kind, scale, zero, names=()):
        """An input of f32, which is quantised; `names` are those of its first sizes."""
        name, info = self.name("x"), np.iinfo(KINDS[kind])
        integers = random.integers(info.min, info.max + 1, shape)
        self.feeds[name] = ((integers - zero) * scale).astype(np.float32)
        self.header.append(f"input {name} f32[{','.join(map(str, (*names, *shape[len(names):])))}]")
        return self.quantize(Tensor(name, self.feeds[name].astype(np.float64)), kind, scale, zero)

    def integers(self, x, kind):
        """An input of integers."""
        name = self.name("x")
        self.feeds[name] = x
        self.header.append(f"input {name} {kind}[{','.join(map(str, x.shape))}]")
        return name

    def shown(self, name, expected):
        self.outputs.append(name)
        self.expected[name] = expected

    def quantize(self, x, kind, scale, zero, shown=False):
        s, z = self.init("f32", scale), self.init(kind, zero)
        q = self.node(f"QuantizeLinear {x.name} {s} {z}")
        integers = rounded(x.numbers, scale, zero, kind)
        if shown:
            self.outputs.append(q)
            self.expected[q] = integers
        return Tensor(self.node(f"DequantizeLinear {q} {s} {z}"), (integers.astype(np.float64) - zero) * scale)

    def show(self, x, kind, scale, zero):
        self.quantize(x, kind, scale, zero, shown=True)

    def weights(self, shape, kind="i8", zero=0, axis=0, low=-128, high=127):
        """Constants with a scale for each channel along `axis`."""
        integers = random.integers(low, high + 1, shape)
        scales = 2.0 ** -random.integers(6, 9, shape[axis])
        name = self.node(f"DequantizeLinear {self.init(kind, integers)} {self.init('f32', scales)} "
                         f"{self.init(kind, np.full(shape[axis], zero))} | axis={axis}")
        along = [1] * len(shape)
        along[axis] = -1
        return Tensor(name, (integers - zero) * scales.reshape(along)), scales

    def bias(self, scales, scale):
        levels = random.integers(-4000, 4000, scales.shape)
        name = self.node(f"DequantizeLinear {self.init('i32', levels)} {self.init('f32', scales * scale)} | axis=0")
        return Tensor(name, levels * scales * scale)

    def convolve(self, x, w, bias=None, pads=0, stride=1, group=1):
        n, c, height, width = x.numbers.shape
        f, depth, kh, kw = w.numbers.shape
        padded = np.pad(x.numbers, ((0, 0), (0, 0), (pads, pads), (pads, pads)))
        rows, columns = (height + 2 * pads - kh) // stride + 1, (width + 2 * pads - kw) // stride + 1
        y = np.zeros((n, f, rows, columns))
        for g in range(group):
            features, channels = slice(g * f // group, (g + 1) * f // group), slice(g * depth, (g + 1) * depth)
            for i in range(kh):
                for j in range(kw):
                    part = padded[:, channels, i : i + stride * rows : stride, j : j + stride * columns : stride]
                    part = part[:, :, :rows, :columns]
                    y[:, features] += np.einsum("nchw,fc->nfhw", part, w.numbers[features, :, i, j])
        if bias:
            y += bias.numbers.reshape(1, -1, 1, 1)
        name = self.node(f"Conv {x.name} {w.name} {bias.name if bias else ''} | pads=[{pads},{pads},{pads},{pads}] "
                         f"strides=[{stride},{stride}] group={group}")
        return Tensor(name, y)

    def binary(self, kind, x, y, numbers):
        return Tensor(self.node(f"{kind} {x.name} {y.name}"), numbers)

    def relu(self, x):
        return Tensor(self.node(f"Relu {x.name}"), np.maximum(x.numbers, 0))

    def text(self):
        return "\n".join(["opset 17", "graph main"] + self.header + self.inits + self.nodes
                         + [f"output {name}" for name in self.outputs]) + "\n"


def build():
    net = Network()
    # Windows, strides, padding by the zero point, tails of channels and of features, one and several images.
    for c, f, size, k, pads, stride, kind, zero in [
            (3, 20, 9, 3, 1, 2, "u8", 131), (16, 32, 8, 1, 0, 1, "u8", 0), (5, 7, 6, 3, 1, 1, "i8", -3),
            (64, 48, 7, 3, 1, 1, "u8", 9), (1, 16, 5, 5, 2, 1, "i8", 0), (2, 33, 6, 1, 0, 2, "i8", 17),
            (37, 70, 5, 2, 0, 1, "u8", 255)]:
        x = net.feed((2 if c == 5 else 1, c, size, size), kind, 2.0 ** -4, zero)
        w, scales = net.weights((f, c, k, k))
        y = net.convolve(x, w, net.bias(scales, 2.0 ** -4) if f % 2 == 0 else None, pads, stride)
        net.show(net.relu(y) if c == 16 else y, kind, 2.0 ** -1, 100 if kind == "u8" else -5)
    # Groups, also one for each channel.
    x = net.feed((1, 12, 7, 7), "u8", 2.0 ** -3, 7)
    w, scales = net.weights((24, 4, 3, 3))
    net.show(net.convolve(x, w, None, 1, 1, 3), "i8", 1.0, 3)
    w, scales = net.weights((12, 1, 3, 3))
    net.show(net.convolve(x, w, net.bias(scales, 2.0 ** -3), 1, 2, 12), "u8", 0.25, 40)
    # A residual: both addends are quantised, one of them right before.
    for kind, zeros in ("u8", (0, 120, 64)), ("i8", (-128, 4, -7)):
        x = net.feed((1, 24, 6, 6), kind, 2.0 ** -4, zeros[0])
        w, scales = net.weights((24, 24, 1, 1))
        y = net.quantize(net.convolve(x, w, net.bias(scales, 2.0 ** -4)), kind, 0.5, zeros[1])
        z = net.quantize(net.binary("Add", y, x, y.numbers + x.numbers), kind, 0.25, zeros[2])
        # The largest elements, padded by what is less than all, and a second convolution of them.
        pooled = np.pad(z.numbers, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
        pooled = np.max([pooled[:, :, i : i + 6 : 2, j : j + 6 : 2] for i in range(3) for j in range(3)], axis=0)
        z = Tensor(net.node(f"MaxPool {z.name} | kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]"), pooled)
        z = net.quantize(z, kind, 0.25, zeros[2], shown=True)
        # A concatenation of equally quantised parts, and weights without a sign.
        z = Tensor(net.node(f"Concat {z.name} {z.name} | axis=1"), np.concatenate([z.numbers] * 2, axis=1))
        w, _ = net.weights((10, 48, 1, 1), "u8", 128, 0, 0, 255)
        net.show(net.convolve(z, w), kind, 32.0, 1)
    # Operations on integers, of either sign, with and without zero points.
    for kind, zero, weight_zero in ("u8", 200, 0), ("i8", -5, 3), ("u8", 0, 0):
        x = random.integers(np.iinfo(KINDS[kind]).min, np.iinfo(KINDS[kind]).max + 1, (3, 41)).astype(KINDS[kind])
        w = random.integers(-100, 100, (41, 24)).astype(np.int8)
        name = net.integers(x, kind)
        zeros = f"{net.init(kind, zero)} {net.init('i8', weight_zero)}" if zero else ""
        net.shown(net.node(f"MatMulInteger {name} {net.init('i8', w)} {zeros}"),
                  (x.astype(np.int32) - zero) @ (w.astype(np.int32) - weight_zero))
        x = random.integers(np.iinfo(KINDS[kind]).min, np.iinfo(KINDS[kind]).max + 1, (1, 6, 8, 8)).astype(KINDS[kind])
        w = random.integers(-100, 100, (17, 6, 3, 3)).astype(np.int8)
        zeros = f"{net.init(kind, zero)} {net.init('i8', weight_zero)}" if zero else ""
        y = net.convolve(Tensor("", x.astype(np.float64) - zero), Tensor("", w.astype(np.float64) - weight_zero), pads=1)
        net.nodes.pop()
        net.shown(net.node(f"ConvInteger {net.integers(x, kind)} {net.init('i8', w)} {zeros} | pads=[1,1,1,1]"),
                  y.numbers.astype(np.int32))
    # Batches and images of sizes that calls choose.
    x = net.feed((3, 5, 9, 8), "u8", 2.0 ** -4, 3, ("n", 5, "h"))
    w, scales = net.weights((20, 5, 3, 3))
    net.show(net.convolve(x, w, net.bias(scales, 2.0 ** -4), 1, 1), "u8", 0.5, 100)
    x = net.feed((3, 50), "i8", 2.0 ** -4, 3, ("n",))
    w, _ = net.weights((50, 40), axis=1)
    net.show(net.binary("MatMul", x, w, x.numbers @ w.numbers), "i8", 0.5, 7)
    # Products of matrices, with weights of which one does not fit into i8 and is computed in f32.
    x = net.feed((5, 50), "u8", 2.0 ** -4, 30)
    for kind, zero, low, high in ("i8", 0, -128, 127), ("i8", 100, -128, 127), ("u8", 128, 0, 255):
        w, _ = net.weights((50, 19), kind, zero, 1, low, high)
        net.show(net.binary("MatMul", x, w, x.numbers @ w.numbers), "u8", 0.5, 77)
    # One column, which is a reduction of bytes.
    for k in 16, 33, 64, 128, 200:
        x = net.feed((1, k), "u8", 2.0 ** -4, 30)
        w, _ = net.weights((k, 1), axis=1)
        net.show(net.binary("MatMul", x, w, x.numbers @ w.numbers), "u8", 2.0, 77)
    # A sum that i32 holds, but not f32: only the fractions of other results are lost.
    x = net.feed((1, 4096), "u8", 1.0, 0)
    w, _ = net.weights((4096, 16), low=100, axis=1)
    net.show(net.binary("MatMul", x, w, x.numbers @ w.numbers), "u8", 65536.0, 0)
    return net


def main(folder):
    os.makedirs(folder, exist_ok=True)
    net, wrong, results = build(), 0, 0
    model = os.path.join(folder, "model.onnx")
    with open(model, "wb") as file:
        subprocess.run([sys.executable, MODEL], input=net.text().encode(), stdout=file, check=True)
    for target in dict.fromkeys(TARGETS if EMULATED else TARGETS + ["cascadelake"]):
        for threads in (1, 3):
            library = os.path.join(folder, f"{target}-{threads}.so")
            outputs = load(target, model, library, "--quiet", "--bound", "n=4", "--bound", "h=16", threads=threads).call("main", **net.feeds)
            for name, got in zip(net.outputs, outputs):
                results += 1
                if not np.array_equal(got, net.expected[name]):
                    wrong += 1
                    print(f"{target}, {threads} threads: {name} has other integers than\n{net.expected[name]}\nnamely\n{got}")
    print(f"{results} results, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
