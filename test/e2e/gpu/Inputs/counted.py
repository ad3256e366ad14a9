"""Calls on the emulated GPU whose kernels are counted."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from model import Model


def call(library, counters, entry, feeds):
    """Calls an entry of a new instance. Returns the fetches, and the counts of each kernel, which pass through the file
    `counters`; the driver writes them when the instance is gone. A real GPU counts nothing: there is no list then."""
    os.environ["TFC_EMULATED_COUNTERS"] = counters
    model = Model(library, threads=1)
    fetches = model.call(entry, **feeds)
    del model
    if "TFC_CUDA_DRIVER" not in os.environ:
        return fetches, None
    with open(counters) as file:
        return fetches, [json.loads(line) for line in file]
