"""Operations of com.microsoft agree with ONNX Runtime.

    microsoft.py FOLDER      compares with the outputs in microsoft.npz
    microsoft.py --record    writes these with ONNX Runtime (recorded with 1.32)
"""

import os
import subprocess
import sys

import numpy as np
from onnx_case import MODEL, Cases

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "microsoft.npz")
random = np.random.default_rng(3)


def draw(*shape):
    return random.normal(size=shape).astype(np.float32)


def whole(most, *shape):
    return random.integers(0, most, shape).astype(np.int32)


class Recorder(Cases):
    """Runs models in ONNX Runtime instead, and keeps the outputs."""

    def __init__(self):
        super().__init__("")
        self.outputs = {}

    def compare(self, nodes, feeds, names):
        import onnxruntime

        text = self.text_of(nodes, feeds, names)
        model = subprocess.run([sys.executable, MODEL], input=text.encode(), capture_output=True, check=True).stdout
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        for name, value in zip(names, session.run(names, feeds)):
            if name[0] != "_":
                self.outputs[f"{self.count}.{name}"] = value
        self.count += 1

    def finish(self):
        np.savez_compressed(RECORDED, **self.outputs)


class Checker(Cases):
    def __init__(self, folder):
        super().__init__(folder)
        self.recorded = np.load(RECORDED)

    def compare(self, nodes, feeds, names):
        self.check(nodes, feeds, {name: self.recorded[f"{self.count}.{name}"] for name in names if name[0] != "_"})


cases = Recorder() if sys.argv[1] == "--record" else Checker(sys.argv[1])


def compare(op, attributes, names, **feeds):
    """Inputs are those of `feeds` in order; None is absent. An output whose name begins with `_` has undefined elements
    and is not compared."""
    inputs = " ".join("-" if value is None else name for name, value in feeds.items())
    given = {name: value for name, value in feeds.items() if value is not None}
    cases.compare(f"{names} = {op} {inputs} | {attributes}", given, [n for n in names.split(", ") if n != "-"])


MS = "com.microsoft."

compare(MS + "Gelu", "", "y", x=3 * draw(2, 5))
compare(MS + "BiasGelu", "", "y", x=draw(2, 3, 4), b=draw(4))
compare(MS + "FastGelu", "", "y", x=draw(2, 4))
compare(MS + "FastGelu", "", "y", x=draw(2, 4), b=draw(4))
compare(MS + "QuickGelu", "", "y", x=draw(2, 4))
compare(MS + "QuickGelu", "alpha=0.5", "y", x=draw(2, 4))

compare(MS + "FusedMatMul", "alpha=0.5 transB=1", "y", a=draw(2, 3, 4), b=draw(5, 4))
compare(MS + "FusedMatMul", "transA=1", "y", a=draw(2, 4, 3), b=draw(2, 4, 5))
compare(MS + "FusedMatMul", "transBatchA=1 transBatchB=1 transB=1", "y", a=draw(3, 2, 4), b=draw(5, 2, 4))
compare(MS + "FusedMatMul", "transBatchA=1 transA=1", "y", a=draw(4, 2, 3), b=draw(2, 4, 5))
compare(MS + "TransposeMatMul", "alpha=2.0 transA=1", "y", a=draw(4, 3), b=draw(4, 5))
compare(MS + "FusedGemm", 'activation="Relu" transB=1 alpha=2.0 beta=0.5', "y", a=draw(3, 4), b=draw(5, 4), c=draw(5))
compare(MS + "FusedGemm", 'activation="LeakyRelu" activation_alpha=0.2', "y", a=draw(3, 4), b=draw(4, 5), c=draw(5))
for activation in "Relu", "Tanh", "Sigmoid":
    compare(MS + "FusedConv", f'activation="{activation}" pads=[1,1,1,1]', "y", x=draw(1, 2, 4, 4), w=draw(3, 2, 3, 3),
            b=draw(3))
compare(MS + "FusedConv", 'activation="LeakyRelu" activation_params=[0.3] strides=[2,2]', "y", x=draw(1, 2, 5, 5),
        w=draw(3, 2, 3, 3))
compare(MS + "FusedConv", 'activation="Clip" activation_params=[-0.5,0.5]', "y", x=draw(1, 2, 4, 4), w=draw(3, 2, 3, 3))
compare(MS + "FusedConv", 'activation="HardSigmoid" activation_params=[0.3,0.4]', "y", x=draw(1, 2, 4, 4),
        w=draw(3, 2, 3, 3))
compare(MS + "FusedConv", 'activation="Relu"', "y", x=draw(1, 2, 4, 4), w=draw(3, 2, 3, 3), b=draw(3), z=draw(1, 3, 2, 2))

for bits, blocks, zeros in (4, 3, False), (4, 3, True), (8, 3, True), (8, 3, False):
    bytes_of = 16 * bits // 8
    compare(MS + "MatMulNBits", f"K=40 N=5 bits={bits} block_size=16", "y", a=draw(2, 3, 40),
            b=whole(256, 5, blocks, bytes_of).astype(np.uint8), s=draw(5, blocks),
            z=whole(256, 5, (blocks * bits + 7) // 8).astype(np.uint8) if zeros else None)

compare(MS + "SkipLayerNormalization", "epsilon=0.001", "y", x=draw(2, 3, 8), s=draw(2, 3, 8), g=draw(8), b=draw(8))
compare(MS + "SkipLayerNormalization", "", "y, -, -, z", x=draw(2, 3, 8), s=draw(2, 3, 8), g=draw(8), b=draw(8), c=draw(8))
compare(MS + "SkipLayerNormalization", "", "y", x=draw(2, 3, 8), s=draw(3, 8), g=draw(8))
compare("SimplifiedLayerNormalization", "axis=-1 epsilon=0.001", "y", x=draw(2, 3, 8), g=draw(8))
compare(MS + "SkipSimplifiedLayerNormalization", "epsilon=0.001", "y, -, -, z", x=draw(2, 3, 8), s=draw(2, 3, 8), g=draw(8),
        b=draw(8))
tables = dict(w=draw(9, 8), p=draw(6, 8))
norm = dict(g=draw(8), b=draw(8))
compare(MS + "EmbedLayerNormalization", "epsilon=0.001", "y, m", i=whole(9, 2, 4), t=whole(2, 2, 4), **tables, e=draw(2, 8),
        **norm, k=np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32))
compare(MS + "EmbedLayerNormalization", "", "y, -, z", i=whole(9, 2, 4), t=None, **tables, e=None, **norm)
compare(MS + "EmbedLayerNormalization", "", "y, m", i=whole(9, 2, 4), t=None, **tables, e=None, **norm, k=None,
        q=whole(6, 2, 4))

inputs = dict(x=draw(2, 3, 8), w=draw(8, 24), b=draw(24))
compare(MS + "Attention", "num_heads=2", "y", **inputs)
compare(MS + "Attention", "num_heads=2 unidirectional=1 scale=0.3", "y", **inputs)
compare(MS + "Attention", "num_heads=2", "y", **inputs, m=np.array([2, 3], np.int32))
compare(MS + "Attention", "num_heads=2", "y", **inputs, m=np.array([3, 2, 1, 0], np.int32))
compare(MS + "Attention", "num_heads=2", "y", **inputs, m=np.array([[1, 1, 0], [0, 1, 1]], np.int32))
compare(MS + "Attention", "num_heads=2", "y", **inputs, m=np.array([[[1, 0, 1], [1, 1, 0], [0, 1, 1]]] * 2, np.int32))
compare(MS + "Attention", "num_heads=2 unidirectional=1", "y, z", **inputs, m=None, p=draw(2, 2, 2, 5, 4))
compare(MS + "Attention", "num_heads=2", "y", **inputs, m=None, p=None, a=draw(2, 2, 3, 3))
compare(MS + "Attention", "num_heads=2 qkv_hidden_sizes=[8,8,4]", "y", x=draw(2, 3, 8), w=draw(8, 20), b=draw(20))

inputs = dict(q=draw(2, 3, 8), k=draw(2, 5, 8), v=draw(2, 5, 4))
compare(MS + "MultiHeadAttention", "num_heads=2", "y", **inputs)
compare(MS + "MultiHeadAttention", "num_heads=2 scale=0.2", "y", **inputs, b=draw(20))
compare(MS + "MultiHeadAttention", "num_heads=2", "y", **inputs, b=None, m=np.array([[1, 1, 0, 1, 1], [1, 1, 1, 1, 0]], np.int32))
compare(MS + "MultiHeadAttention", "num_heads=2", "y", **inputs, b=None, m=None, a=draw(1, 2, 3, 5))
compare(MS + "MultiHeadAttention", "num_heads=2 unidirectional=1", "y, i, j", q=draw(2, 3, 8), k=draw(2, 3, 8),
        v=draw(2, 3, 8), b=None, m=None, a=None, p=draw(2, 2, 4, 4), w=draw(2, 2, 4, 4))
compare(MS + "MultiHeadAttention", "num_heads=2", "y", q=draw(2, 3, 8), k=draw(2, 2, 5, 4), v=draw(2, 2, 5, 4))

waves = dict(c=draw(8, 4), s=draw(8, 4))
for options in "", "interleaved=1":
    compare(MS + "RotaryEmbedding", options, "y", x=draw(2, 3, 16), p=np.array([[0, 1, 2], [3, 5, 4]]), **waves)
    compare(MS + "RotaryEmbedding", options, "y", x=draw(2, 2, 3, 8), p=np.array([4]), **waves)
compare(MS + "RotaryEmbedding", "num_heads=2 rotary_embedding_dim=8", "y", x=draw(2, 3, 32), p=np.array([1]), **waves)

queries = dict(q=draw(2, 3, 64), k=draw(2, 3, 32), v=draw(2, 3, 32))
waves = dict(c=draw(8, 8), s=draw(8, 8))
lengths = dict(l=np.array([2, 2], np.int32), t=np.array(3, np.int32))
none = dict(p=None, u=None)
shared = "num_heads=4 kv_num_heads=2"
compare(MS + "GroupQueryAttention", shared, "y, i, j", **queries, **none, **lengths)
compare(MS + "GroupQueryAttention", f"{shared} do_rotary=1", "y, i, j", **queries, **none, **lengths, **waves)
compare(MS + "GroupQueryAttention", f"{shared} do_rotary=1 rotary_interleaved=1 scale=0.3 softcap=2.0", "y", **queries,
        **none, **lengths, **waves)
compare(MS + "GroupQueryAttention", f"{shared} local_window_size=2", "y", **queries, **none, **lengths)
compare(MS + "GroupQueryAttention", f"{shared} do_rotary=1", "y, i, j", q=draw(2, 3, 128), k=None, v=None, **none, **lengths,
        **waves)
# After calls with four keys in one row and two or four in the other.
one, past = dict(q=draw(2, 1, 64), k=draw(2, 1, 32), v=draw(2, 1, 32)), dict(p=draw(2, 2, 4, 16), u=draw(2, 2, 4, 16))
compare(MS + "GroupQueryAttention", f"{shared} do_rotary=1", "y, i, j", **one, **past, l=np.array([4, 4], np.int32),
        t=np.array(5, np.int32), **waves)
compare(MS + "GroupQueryAttention", f"{shared} do_rotary=1", "y, _i, _j", **one, **past, l=np.array([4, 2], np.int32),
        t=np.array(5, np.int32), **waves)
cases.finish()
