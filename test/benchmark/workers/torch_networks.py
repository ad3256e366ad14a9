"""torch: a training step of a network in eager mode; the LSTM is torch's own, with its fused cell."""

import os

import networks
import numpy as np
import protocol
import torch
import torch.nn.functional as F

torch.set_num_threads(protocol.threads)
torch.set_default_device(os.environ.get("TFC_PEER_DEVICE", "cpu"))
is_exact = os.environ.get("TFC_PEER_PRECISION", "f32") == "f32"
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = not is_exact
CAUSAL = torch.tensor(np.tri(128, dtype=bool))


class ops:
    relu, sigmoid, tanh = F.relu, torch.sigmoid, torch.tanh
    reshape, transpose, split, concat = torch.reshape, torch.permute, torch.chunk, torch.cat

    def take(table, index):
        return F.embedding(index, table)

    def softmax(x):
        return torch.softmax(x, -1)

    def gelu(x):
        return F.gelu(x, approximate="tanh")

    def causal(score):
        return score.masked_fill(~CAUSAL, -torch.inf)

    def layer_norm(x, scale, shift):
        return F.layer_norm(x, (384,), scale, shift)

    def conv(x, kernel, bias=None, stride=1, pads=None):
        pads = kernel.shape[2] // 2 if pads is None else pads
        return F.conv2d(x.permute(0, 3, 1, 2), kernel, bias, stride, pads).permute(0, 2, 3, 1)

    def max_pool(x, size=2, pads=0, stride=2, ceil=False):
        y = F.max_pool2d(x.permute(0, 3, 1, 2), size, stride, pads, ceil_mode=ceil)
        return y.permute(0, 2, 3, 1)

    def batch_norm(x, scale, shift):
        x = x.permute(0, 3, 1, 2)
        return F.batch_norm(x, None, None, scale, shift, True, 0.1, 1e-5).permute(0, 2, 3, 1)

    def cross_entropy(scores, label):
        return F.cross_entropy(scores, label)


def parameter(value):
    tensor = torch.tensor(value)
    if tensor.dim() == 4:  # as its convolutions like it
        tensor = tensor.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    return tensor.requires_grad_()


def own_lstm(weights):
    """torch.nn.LSTM with these weights; its gates are in the order i f j o, its matrices transposed."""
    rnn = torch.nn.LSTM(512, 512, 2)
    order = [0, 2, 1, 3]
    with torch.no_grad():
        for layer, name in enumerate(("first", "second")):
            gates = torch.tensor(weights.pop(name + ".w")).T.reshape(4, 512, 1024)[order]
            bias = torch.tensor(weights.pop(name + ".b")).reshape(4, 512)[order]
            getattr(rnn, f"weight_ih_l{layer}").copy_(gates[:, :, :512].reshape(2048, 512))
            getattr(rnn, f"weight_hh_l{layer}").copy_(gates[:, :, 512:].reshape(2048, 512))
            getattr(rnn, f"bias_ih_l{layer}").copy_(bias.reshape(2048))
            getattr(rnn, f"bias_hh_l{layer}").zero_()
            getattr(rnn, f"bias_hh_l{layer}").requires_grad_(False)
    return rnn


def make_task(task):
    weights, x, label = networks.load(task)
    rnn = own_lstm(weights) if task == "lstm" else None
    w = {name: parameter(value) for name, value in weights.items()}
    trained = list(w.values()) + [p for p in rnn.parameters() if p.requires_grad] if rnn else list(w.values())
    x, label = torch.tensor(x), torch.tensor(label).long()
    if task == "gpt":
        optimizer = torch.optim.Adam(trained, 1e-3, fused=True)
    else:
        momentum = 0 if task == "lstm" else 0.9
        optimizer = torch.optim.SGD(trained, 1e-3, momentum=momentum, foreach=True)

    def loss_of():
        if not rnn:
            return networks.NETWORKS[task](ops, w, x, label)
        scores = rnn(F.embedding(x, w["table"]))[0].reshape(700, 512) @ w["w"] + w["b"]
        return F.cross_entropy(scores, label.reshape(700))

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of()
        loss.backward()
        if task == "lstm":
            torch.nn.utils.clip_grad_norm_(trained, 5.0)
        optimizer.step()
        return loss.item()

    return step, protocol.train(step)


protocol.serve("torch", torch.__version__, make_task)
