"""follow.py MODEL.so NETWORK: trains the network from the stored setting and compares with NETWORK.json."""

import json
import pathlib
import sys

import numpy as np
import setting

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Inputs"))
from model import Model

library, network = sys.argv[1:]
expected = json.loads((pathlib.Path(__file__).parent / f"{network}.json").read_text())
got = np.array(setting.train(Model(library, threads=1), network))
for kind, values in zip(expected, got.T):
    worst = np.abs(values - expected[kind]).max()
    print(f"{network}: {kind} from {values[0]:.4f} to {values[-1]:.4f}, at most {worst:.1e} apart")
    if kind == "loss":
        assert len(values) == setting.STEPS and worst < 1e-4
    else:
        np.testing.assert_allclose(values, expected[kind], rtol=1e-2)
