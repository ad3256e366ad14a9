"""Compares gradients with central differences in f64."""

import numpy as np


def check_gradient(loss_of, value, gradient, places, rtol, atol):
    """Changes `value`, of which `loss_of` is a function, in each of the places, and restores it."""
    step = 1e-5
    for at in places:
        before = value[at]
        value[at] = before + step
        above = loss_of()
        value[at] = before - step
        slope = (above - loss_of()) / (2 * step)
        value[at] = before
        np.testing.assert_allclose(gradient[at], slope, rtol=rtol, atol=atol)
