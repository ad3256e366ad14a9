"""pipeline.py LIBRARY WHOLE: compares calls of pipeline.graph, placed on two devices, with those on one."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))

import numpy as np
from model import Model


def compare(models, entry, shapes):
    random = np.random.default_rng(3)
    for shape in shapes:
        x = random.standard_normal((*shape, 4))
        found = [model.call(entry, x=x)[0] for model in models]
        np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-5, err_msg=f"{entry} {shape}")
    for name in models[0].variables:
        np.testing.assert_allclose(models[0][name], models[1][name], rtol=1e-5, atol=1e-5, err_msg=name)
    print(f"{entry}: {len(shapes)} calls agree")


def main():
    models = [Model(path) for path in sys.argv[1:]]
    for model in models[1:]:
        for name in model.variables:
            model[name] = models[0][name]
    compare(models, "run", [(12, 7), (0, 3), (1, 1), (2, 0), (3, 5), (12, 7)])
    compare(models, "train", [(1 + step % 12, 1 + step % 7) for step in range(20)])


main()
