"""gpt_steps.py MODEL.so: compares the scores of a row of characters with those of one after the other."""

import pathlib
import sys

import numpy as np
import setting

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Inputs"))
from model import Model

model = Model(sys.argv[1], threads=1)
shapes = {n: shape for n, (_, shape) in model.variables.items() if setting.is_weight(n)}
for name, value in setting.initial_weights(shapes).items():
    model[name] = value
tokens = np.random.RandomState(3).randint(1, 128, size=(1, 60)).astype(np.int32)
(together,), (alone,) = (model.call(entry, tokens=tokens) for entry in ("at_once", "one_by_one"))
assert together.std() > 0.5
np.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-4)
