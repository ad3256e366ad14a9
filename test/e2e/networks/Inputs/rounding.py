"""rounding.py SINGLE.so DOUBLE.so NETWORK: how far the losses in f32 are from those in f64, for twenty settings.

Where two elements of a pooling window are closer than f32 tells apart, another one gets the gradient, and from there
on the networks differ. PyTorch 2.15.0 in f32 (convnet_torch.py SEED float32) is within 4e-7 of f64 in 16 of the
20 settings of the convnet, and 0.0004 to 0.0008 off in the other four.
"""

import pathlib
import sys

import numpy as np
import setting

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Inputs"))
from model import Model

network = sys.argv[3]


def losses(library, seed):
    return np.array(setting.train(Model(library, threads=1), network, seed))[:, 0]


apart = [np.abs(losses(sys.argv[1], s) - losses(sys.argv[2], s)).max() for s in range(20)]
near = sum(d < 1e-4 for d in apart)
print(f"{network}: f32 is within 1e-4 of f64 in {near} of 20 settings, the median is {np.median(apart):.1e}")
assert near >= 14 and np.median(apart) < 1e-6
