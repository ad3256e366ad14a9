"""Sequences and optionals that are resolved while a model is read."""

import sys

import numpy as np
from onnx_case import Cases

cases = Cases(sys.argv[1])
x, y, z = (np.arange(6, dtype=np.float32).reshape(2, 3) + k for k in (0, 10, 20))
feeds, at = {"x": x, "y": y, "z": z}, {"p": np.int64(-2)}
cases.check("s = SequenceConstruct x y z\nl = SequenceLength s\nt = SequenceAt s p", feeds, {"l": np.int64(3), "t": y}, at)
cases.check("e = SequenceEmpty\na = SequenceInsert e x\nb = SequenceInsert a y\nc = SequenceInsert b z p\n"
            "t = ConcatFromSequence c | axis=1\nu = ConcatFromSequence c | axis=-1 new_axis=1", feeds,
            {"t": np.concatenate([x, z, y], 1), "u": np.stack([x, z, y], -1)}, {"p": np.int64(1)})
cases.check("s = SequenceConstruct x y\ni = SequenceInsert s z p\nt = ConcatFromSequence i | axis=0", feeds,
            {"t": np.concatenate([x, z, y])}, {"p": np.int64(-1)})
cases.check("s = SequenceConstruct x y z\nd = SequenceErase s p\nf = SequenceErase d\nt = ConcatFromSequence f | axis=0",
            feeds, {"t": x}, at)
cases.check("s = SplitToSequence x | axis=1 keepdims=0\nt = ConcatFromSequence s | axis=0", {"x": x},
            {"t": x.T.reshape(-1)})
cases.check("s = SplitToSequence x n | axis=1\nl = SequenceLength s\nt = SequenceAt s p", {"x": x},
            {"l": np.int64(2), "t": x[:, :2]}, {"n": np.int64(2), "p": np.int64(0)})
cases.check("s = SplitToSequence x n | axis=1\nt = SequenceAt s p", {"x": x}, {"t": x[:, 1:]},
            {"n": np.array([1, 2]), "p": np.int64(1)})
body = "graph body\ninput a\ninput b\nc = Add a b\nd = Neg a\noutput c\noutput d"
cases.check("s = SequenceConstruct x y\nu, v = SequenceMap s z | body=@body\nt = ConcatFromSequence u | axis=0\n"
            "w = ConcatFromSequence v | axis=0", feeds,
            {"t": np.concatenate([x + z, y + z]), "w": np.concatenate([-x, -y])}, before=body)
cases.check("o = Optional x\nh = OptionalHasElement o\nt = OptionalGetElement o\nn = OptionalHasElement -", {"x": x},
            {"h": np.bool_(True), "t": x, "n": np.bool_(False)}, opset=18)
cases.finish()
