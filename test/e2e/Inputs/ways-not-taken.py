"""Checks ways-not-taken.graph with infinite derivatives before a path that is not taken."""

import numpy as np

X = np.array([0.0, 0.25, 1.0, 4.0, 9.0])
OF_ROOT = np.array([np.inf, 1.0, 0.5, 0.25, 1 / 6])
MISSED = np.where(X == 0, np.nan, 0)  # zeros times the derivative of the root


def cases(random):
    for goes, wanted in (True, OF_ROOT), (False, 2 * X):
        feeds = {"x": X, "goes": np.array(goes)}
        everywhere = wanted if goes else wanted + MISSED
        yield "branch", feeds, [everywhere, np.isfinite(everywhere)]
        yield "inside", feeds, [wanted]
        yield "guarded", feeds, [np.where(X > 0, wanted, 0)]
    for count, wanted in (0, np.ones(5)), (1, 2 * X + MISSED), (2, 2.5 * X**1.5 + MISSED):
        yield "loop", {"count": np.array(count, np.int32), "x": X}, [wanted]
    yield "limits", {"x": X, "limit": np.ones(5)}, [np.zeros(5), np.ones(5)]
