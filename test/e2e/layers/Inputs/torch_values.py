"""torch_values.py FILE.npz: writes results of PyTorch layers, and their weights, for peer.py."""

import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
VALUES = {}


def keep(name, module, *inputs, train=False):
    """Stores a module's outputs and weights for these inputs; in training also the buffers after the step."""
    module.train(train)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
        weights = {key: value.clone() for key, value in module.state_dict().items()}
        result = module(*inputs)
    for key, value in weights.items():
        VALUES[f"{name}/{key}"] = value.numpy()
    for key, value in module.named_buffers():
        VALUES[f"{name}/after.{key}"] = value.numpy().copy()
    for i, x in enumerate(inputs):
        VALUES[f"{name}/x{i}"] = x.numpy()
    flat = []
    for part in result if isinstance(result, tuple) else [result]:
        flat += part if isinstance(part, tuple) else [part]
    for i, y in enumerate(y for y in flat if y is not None):
        VALUES[f"{name}/y{i}"] = y.numpy()


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.forward = function


rows, sequence = torch.randn(3, 5), torch.randn(2, 5, 4)
images, line = torch.randn(1, 4, 5, 6), torch.randn(1, 4, 7)
keep("dense", nn.Linear(5, 3), rows)
keep("conv2d", nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2), images)
keep("conv1d", nn.Conv1d(4, 3, 3, padding=2, dilation=2), line)
keep("depthwise", nn.Conv2d(4, 8, 3, groups=4, padding=1), images)
keep("transposed", nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2), images)
keep("transposed1d", nn.ConvTranspose1d(4, 3, 4, stride=3, dilation=2), line)
keep("batch_norm", nn.BatchNorm2d(4), images, train=True)
keep("layer_norm", nn.LayerNorm(4), sequence)
keep("group_norm", nn.GroupNorm(2, 4), images)
keep("instance_norm", nn.InstanceNorm2d(4, affine=True), images)
keep("rms_norm", nn.RMSNorm(4, eps=1e-6), sequence)
keep("lstm", nn.LSTM(4, 3, batch_first=True, bidirectional=True), sequence)
keep("projected", nn.LSTM(4, 3, proj_size=2, batch_first=True), sequence)
keep("gru", nn.GRU(4, 3, batch_first=True), sequence, torch.randn(1, 2, 3))
keep("rnn", nn.RNN(4, 3, batch_first=True), sequence)
keep("attention", nn.MultiheadAttention(4, 2, batch_first=True), sequence, sequence, sequence)
keep("encoder", nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, activation="gelu", batch_first=True), sequence)
keep("encoder_first", nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, batch_first=True, norm_first=True), sequence)
keep("bag", nn.EmbeddingBag(7, 3, mode="mean"), torch.randint(0, 7, (4, 5)))
keep("prelu", nn.PReLU(4), line)
keep("adaptive", nn.AdaptiveAvgPool2d((4, 3)), images)
keep("ceil_max", nn.MaxPool2d(3, 2, padding=1, ceil_mode=True), images)
keep("ceil_mean", nn.AvgPool2d((3, 2), (2, 3), ceil_mode=True, count_include_pad=False), images)
keep("ceil_counted", nn.AvgPool2d(3, 2, padding=1, ceil_mode=True), images)
keep("ceil_line", nn.AvgPool1d(4, 2, padding=2, ceil_mode=True), line)
keep("unpool", Function(lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, output_size=(5, 6))),
     images)
keep("shared", Function(lambda q, k: F.scaled_dot_product_attention(q, k, k, is_causal=True, enable_gqa=True)),
     torch.randn(2, 4, 5, 3), torch.randn(2, 2, 5, 3))
for name in "relu6", "hardsigmoid", "hardswish", "mish", "logsigmoid", "glu":
    keep(name, Function(getattr(F, name)), 3 * torch.randn(3, 6))
short = {key: np.float32(value) if value.dtype == np.float64 else value for key, value in VALUES.items()}
np.savez_compressed(sys.argv[1], **short)
