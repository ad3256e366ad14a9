"""agree.py MODEL.so REFERENCE.py: compares entries of a compiled model with NumPy.

REFERENCE.py has a function `cases(random)` that takes a seeded np.random.Generator and yields
(entry, feeds, fetches) or (entry, feeds, fetches, tolerance): a dictionary of arrays, and the
expected results in order. The tolerance is relative and absolute at once, by default 1e-5 and 1e-12
for f64. Integers, booleans, shapes and dtypes must be equal. All cases run in one instance, in
order.
"""

import runpy
import sys

import numpy as np

from model import Model


def difference(got, expected, tolerance):
    """Describes the difference of a result, or returns None."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"is {got.dtype}{list(got.shape)}, expected {expected.dtype}{list(expected.shape)}"
    if got.dtype.kind != "f":
        same = got == expected
    else:
        limit = tolerance or (1e-12 if got.dtype == np.float64 else 1e-5)
        same = np.isclose(got, expected, rtol=limit, atol=limit, equal_nan=True)
    if same.all():
        return None
    at = tuple(np.argwhere(~same)[0])
    return (
        f"differs in {np.count_nonzero(~same)} of {same.size} elements, first at {list(map(int, at))}: "
        f"{got[at]!r}, expected {expected[at]!r}"
    )


def main():
    library, script = sys.argv[1:]
    model, count, wrong = Model(library), 0, 0
    for entry, feeds, fetches, *tolerance in runpy.run_path(script)["cases"](
        np.random.default_rng(0)
    ):
        shapes = ", ".join(f"{name}: {list(np.shape(value))}" for name, value in feeds.items())
        results = model.call(entry, **feeds)
        found = [
            difference(got, np.asarray(expected), *(tolerance or [None]))
            for got, expected in zip(results, fetches)
        ]
        if len(results) != len(fetches):
            found.append(f"{len(results)} results, expected {len(fetches)}")
        for index, what in enumerate(found):
            if what:
                wrong += 1
                print(f"{entry}({shapes}): result {index} {what}")
        count += 1
    print(f"{count} calls, {wrong} results differ")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
