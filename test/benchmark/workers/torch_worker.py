"""torch: the training step in eager mode, with the fused form of Adam."""

import numpy as np
import protocol
import torch

torch.set_num_threads(protocol.threads)


def make_task(task):
    initial = protocol.variables("mlp.safetensors")
    weights = {
        name: torch.tensor(initial[name], requires_grad=True) for name in ("w1", "b1", "w2", "b2")
    }
    optimizer = torch.optim.Adam(weights.values(), 1e-3, fused=True)
    x = torch.tensor(protocol.feed("mlp", "x", np.float32, (64, 64)))
    label = torch.tensor(protocol.feed("mlp", "label", np.int32, (64,))).long()

    def step():
        optimizer.zero_grad(set_to_none=True)
        hidden = torch.relu(torch.addmm(weights["b1"], x, weights["w1"]))
        logits = torch.addmm(weights["b2"], hidden, weights["w2"])
        loss = torch.nn.functional.cross_entropy(logits, label)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step, protocol.train(step)


protocol.serve("torch", torch.__version__, make_task)
