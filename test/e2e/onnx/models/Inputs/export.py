"""Exports small transformers with dynamic batch and sequence, as PyTorch's older exporter does: export.py FOLDER

Needs the packages `torch`, `transformers` and `onnx` (2.5.1, 4.46.3 and 1.17.0). Run reduce.py afterwards.
"""

import os
import sys

import torch
import transformers

SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24, "vocab_size": 100,
         "max_position_embeddings": 32}
TOKENS = {0: "batch", 1: "seq"}


class First(torch.nn.Module):
    """The first result of a model."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        return self.model(*inputs)[0]


def export(name, model, inputs, axes):
    torch.onnx.export(First(model).eval(), inputs, os.path.join(sys.argv[1], name + ".onnx"), input_names=list(axes),
                      output_names=["y"], dynamic_axes=axes, opset_version=17)


def main():
    torch.manual_seed(0)
    ids = torch.randint(0, 99, (2, 7))
    config = transformers.BertConfig(**SIZES)
    export("bert_dynamic", transformers.BertModel(config), (ids, torch.ones_like(ids)),
           {"input_ids": TOKENS, "attention_mask": TOKENS})
    config = transformers.LlamaConfig(**SIZES, num_key_value_heads=1, use_cache=False)
    export("llama", transformers.LlamaForCausalLM(config), (ids,), {"input_ids": TOKENS})


main()
