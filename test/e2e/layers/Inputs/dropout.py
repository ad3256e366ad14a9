import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from model import Model

model, x = Model(sys.argv[1]), np.random.default_rng(0).uniform(1, 2, (500, 64)).astype(np.float32)
(first, slope), (second, _) = model.call("train", x=x), model.call("train", x=x)
kept = first != 0
assert abs(kept.mean() - 0.75) < 0.01, kept.mean()
np.testing.assert_allclose(first, np.where(kept, x / 0.75, 0), rtol=1e-6)
np.testing.assert_allclose(slope, np.where(kept, 1 / 0.75, 0), rtol=1e-6)
assert 0.3 < np.mean(kept != (second != 0)) < 0.45  # 2 * 0.75 * 0.25
assert np.array_equal(model.call("infer", x=x)[0], x)
assert model.call("train", x=x[:0])[0].shape == (0, 64)
