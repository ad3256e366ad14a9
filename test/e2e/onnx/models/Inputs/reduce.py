"""Writes the reduced models of this folder from exported ones: reduce.py FOLDER [NAME...]

FOLDER has NAME.onnx, for the names in SIZES. All nodes, their names of values and attributes stay; sizes are divided or
replaced, and weights become lines that draw as many numbers with the same mean and deviation. Needs the package `onnx`;
the tests need none, since the models are text (test/frontend/onnx/Inputs/model.py). Run record.py afterwards.
"""

import os
import sys

import numpy as np
import onnx
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {1: "f32", 7: "i64", 9: "bool"}
GPT = {50257: 100, 3072: 32, 2304: 48, 1024: 64, 768: 16, 64: 8, 12: 2}

# By name: the divisor of sizes from 16 on, the sizes that become others, and the names of sizes of inputs. Weights of
# deep networks that were never trained are scaled, so that results depend on the inputs but stay small.
GAIN = {"mobilenet_v2": 2.0, "inception_v3": 0.8}
SIZES = {
    "alexnet": (16, {224: 224}, {}),
    "vgg16": (16, {224: 224}, {}),
    "resnet50": (16, {224: 64}, {("image", 0): "batch"}),
    "inception_v3": (16, {299: 75}, {}),
    "mobilenet_v2": (8, {224: 64}, {}),
    "bert_base": (1, {30522: 100, 3072: 32, 768: 16, 512: 32, 128: 16, 64: 8}, {}),
    "gpt2": (1, GPT, {}),
    # Its layers are as many as its heads.
    "gpt2_decode": (1, {**GPT, 12: 12, 768: 96, 2304: 288}, {}),
    # Small as export.py writes them.
    "bert_dynamic": (1, {}, {}),
    "llama": (1, {}, {}),
    "lstm_lm": (32, {10000: 60, 35: 5, 20: 3}, {}),
}


class Reducer:
    def __init__(self, model, gain, divisor, others, named):
        self.model, self.graph, self.gain = model, model.graph, gain
        self.divisor, self.others, self.named = divisor, others, named
        self.batch = any(axis == 0 for _, axis in named)
        # Constants that are shapes, not data.
        self.shapes = {node.input[1] for node in self.graph.node if node.op_type in ("Reshape", "Expand")}

    def size(self, size):
        return self.others.get(size, size if size < 16 else size // self.divisor)

    def type_of(self, value):
        tensor, dims = value.type.tensor_type, []
        for axis, dim in enumerate(tensor.shape.dim):
            dims.append(self.named.get((value.name, axis)) or dim.dim_param or str(self.size(dim.dim_value)))
        return f"{TYPES[tensor.elem_type]}[{','.join(dims)}]"

    def constant(self, tensor):
        """The type and the elements of a constant as text."""
        dims = [self.size(dim) for dim in tensor.dims]
        if tensor.doc_string:
            how, low, high = tensor.doc_string.split()
            mean, deviation = float(low), float(high)
            if how == "uniform":
                mean, deviation = (mean + deviation) / 2, (deviation - mean) / 12**0.5
            return dims, self.drawn(tensor.dims, dims, mean, deviation)
        array = numpy_helper.to_array(tensor)
        if array.dtype == np.float32 and array.size > 1:
            return dims, self.drawn(tensor.dims, dims, array.mean(), array.std())
        if tensor.name in self.shapes:
            dims, array = tensor.dims, np.array([self.size(n) for n in array.tolist()])
            if self.batch:
                array[0] = -1
        array = array[tuple(slice(dim) for dim in dims)]
        return list(array.shape), self.elements(array)

    @staticmethod
    def elements(array):
        return [f"{x:.9g}" if array.dtype.kind == "f" else str(int(x)) for x in array.ravel()]

    def drawn(self, before, dims, mean, deviation):
        """Weights keep the scale of their products: they get larger where fewer are added up."""
        deviation *= self.gain * (np.prod(before[1:]) / np.prod(dims[1:])) ** 0.5 if len(dims) > 1 else 1
        return f"{mean:.4g} {deviation:.4g}"

    def initializer(self, tensor):
        dims, elements = self.constant(tensor)
        kind = f"{TYPES[tensor.data_type]}[{','.join(map(str, dims))}]"
        if isinstance(elements, str):
            return f"draw {tensor.name} {kind} {elements}"
        return " ".join(["init", tensor.name, kind, *elements])

    def attribute(self, attribute):
        value = onnx.helper.get_attribute_value(attribute)
        if isinstance(value, onnx.TensorProto):
            array = numpy_helper.to_array(value)
            dims, elements = array.shape, self.elements(array)
            return f"{TYPES[value.data_type]}[{','.join(map(str, dims))}]{{{','.join(elements)}}}"
        if isinstance(value, bytes):
            return f'"{value.decode()}"'
        if isinstance(value, list):
            return f"[{','.join(map(str, value))}]"
        if isinstance(value, float):
            return f"{value:.9g}" if value != int(value) else f"{value:.1f}"
        return str(self.size(value) if attribute.name in ("group", "hidden_size") else value)

    def node(self, node):
        outputs = ", ".join(name or "-" for name in node.output)
        call = " ".join([node.op_type, *(name or "-" for name in node.input)])
        attributes = " ".join(f"{a.name}={self.attribute(a)}" for a in node.attribute)
        return f"{outputs} = {call}" + (f" | {attributes}" if attributes else "")

    def lines(self):
        yield f"opset {self.model.opset_import[0].version}"
        yield "graph main"
        for value in self.graph.input:
            yield f"input {value.name} {self.type_of(value)}"
        for tensor in self.graph.initializer:
            yield self.initializer(tensor)
        for node in self.graph.node:
            yield self.node(node)
        for value in self.graph.output:
            yield f"output {value.name}"


def main():
    for name in sys.argv[2:] or SIZES:
        model = onnx.load(os.path.join(sys.argv[1], name + ".onnx"))
        with open(os.path.join(HERE, name + ".txt"), "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in Reducer(model, GAIN.get(name, 1.0), *SIZES[name]).lines())


main()
