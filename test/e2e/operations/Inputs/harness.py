"""harness.py TABLE.py FOLDER: checks operations against NumPy and gradients against differences.

TABLE.py holds `CASES`, made by `case`. They become one graph in FOLDER, which `tfc` compiles; every
case is then called for several sizes of its named dimension `n`, zero among them. The same calls are
made of the oracle (`tfc run --reference`), whose values are compared with NumPy's and whose gradients
with those of the compiled ones.

harness.py TABLE.py FOLDER reference: checks that compiled values are within the oracle's bounds.

The short form of the tests takes one in three cases in that form and on the device TFC_TEST_DEVICE. It checks the values of
a case in one element type, which the case draws; those in f64 are also the losses of gradients.
"""

import json
import os
import runpy
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from agree import difference
from targets import by_target, draw, is_long, load, runs_here

DTYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "i8": np.int8, "i16": np.int16,
    "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "bool": np.bool_,
}
PROBE = 97  # a size of n that nothing else has: shows where a result's shape depends on it


class Operand:
    """A feed: its shape (integers and "n"), how to draw it, and a type of its own if it has one."""

    def __init__(self, shape, draw, dtype=None):
        self.shape, self.draw, self.dtype = shape, draw, dtype

    def sample(self, random, n, dtype):
        shape = tuple(n if size == "n" else size for size in self.shape)
        return np.asarray(self.draw(random, shape)).astype(DTYPES[self.dtype or dtype])

    def type(self, dtype):
        return tensor_type(self.dtype or dtype, self.shape)


def real(*shape):
    return Operand(shape, lambda r, s: r.normal(size=s) * 1.5)


def positive(*shape):
    return Operand(shape, lambda r, s: r.uniform(0.3, 3.0, size=s))


def unit(*shape):
    return Operand(shape, lambda r, s: r.uniform(-0.9, 0.9, size=s))


def distinct(*shape):
    """Values at least 0.1 apart and from 0: for operations with kinks and ties."""

    def draw(random, s):
        count = int(np.prod(s))
        return random.permutation(np.arange(count) - count // 2).reshape(s) * 0.17 + 0.05

    return Operand(shape, draw)


def whole(*shape, low=-5, high=6, dtype=None):
    return Operand(shape, lambda r, s: r.integers(low, high, size=s), dtype)


def truth(*shape):
    return Operand(shape, lambda r, s: r.integers(0, 2, size=s), "bool")


class Case:
    def __init__(self, text, function, types, gradient, second, sizes, tolerance, result, operands):
        self.text, self.function, self.operands = text, function, operands
        self.types, self.gradient, self.second, self.result = types.split(), gradient, second, result
        dynamic = any("n" in o.shape for o in operands.values())
        self.sizes = (sizes or (0, 1, 5)) if dynamic else (1,)
        self.tolerance = tolerance
        shapes = ", ".join(f"{k}{list(o.shape)}" for k, o in operands.items())
        self.name = f"{text} of {shapes}"

    def expected(self, values):
        results = self.function(*values.values())
        return list(results) if isinstance(results, tuple) else [np.asarray(results)]


def case(text, function, types="f64 f32", gradient=True, second=False, sizes=None, tolerance=None,
         result=None, **operands):
    """`text` is an expression of the graph language over the operands, `function` NumPy's. `{T}` in
    the text is the element type. Gradients are checked in f64 where `types` has it, with
    `second` together with the gradient of the gradient. `result` is the result's type, with `{T}`, where one value of n does not
    show how it depends on n."""
    return Case(text, function, types, gradient, second, sizes, tolerance, result, operands)


def tensor_type(dtype, shape):
    return f"{dtype}[{', '.join(map(str, shape))}]" if len(shape) else dtype


def result_type(value):
    def size(extent):
        factor, rest = divmod(extent, PROBE)
        if not factor:
            return str(extent)
        return ("n" if factor == 1 else f"{factor} * n") + (f" + {rest}" if rest else "")

    dtype = next(name for name, known in DTYPES.items() if value.dtype == known)
    return tensor_type(dtype, [size(extent) for extent in value.shape])


class Entries:
    """The graph's text, entry by entry, after the `use` lines of the table."""

    def __init__(self, uses=""):
        self.text, self.names = f"graph operations\n{uses}", set()

    def add(self, name, feeds, statements, results):
        self.names.add(name)
        fetches = ", ".join(f"r{i}: {kind}" for i, (_, kind) in enumerate(results))
        values = ", ".join(value for value, _ in results)
        takes = ", ".join(f"{feed}: {kind}" for feed, kind in feeds.items())
        body = "".join(f"  {line}\n" for line in [*statements, f"return {values}"])
        self.text += f"\nentry {name}({takes}) -> ({fetches}) {{\n{body}}}\n"


def values_in(case, has_gradient):
    """The element types in which values are checked: in the short form one, which is f64 only if no gradient has it."""
    if is_long():
        return case.types
    types = [dtype for dtype in case.types if dtype != "f64" or not has_gradient] or case.types
    return [types[draw(case.name)[1] // 9 % len(types)]]


def add_case(entries, index, case, random):
    samples = {dtype: {k: o.sample(random, PROBE, dtype) for k, o in case.operands.items()} for dtype in case.types}
    kinds = {dtype: [result_type(value) for value in case.expected(values)] for dtype, values in samples.items()}
    if case.result:
        for dtype, types in kinds.items():
            types[0] = case.result.replace("{T}", dtype)
    has_gradient = case.gradient and kinds.get("f64", [""])[0].startswith("f64")
    checked = values_in(case, has_gradient)
    for dtype, types in kinds.items():
        feeds = {k: o.type(dtype) for k, o in case.operands.items()}
        names = [f"y{i}" for i in range(len(types))]
        statement = f"{', '.join(names)} = {case.text.replace('{T}', dtype)}"
        if dtype in checked:
            entries.add(f"value_{index}_{dtype}", feeds, [statement], list(zip(names, types)))
        if dtype != "f64" or not has_gradient:
            continue
        variables = differentiable(case)
        feeds = {**feeds, "weight": types[0]}
        body = [statement, "loss = sum(y0 * weight)",
                f"slopes = gradients(loss, [{', '.join(variables)}])"]
        results = [("loss", "f64"), *((f"slopes[{i}]", feeds[v]) for i, v in enumerate(variables))]
        if not case.second:
            entries.add(f"gradient_{index}", feeds, body, results)
            continue
        directions = {f"along_{v}": feeds[v] for v in variables}
        terms = [f"sum(slopes[{i}] * along_{v})" for i, v in enumerate(variables)]
        body += [f"slope = {' + '.join(terms)}",
                 f"bends = gradients(slope, [{', '.join(variables)}])"]
        results += [("slope", "f64"), *((f"bends[{i}]", feeds[v]) for i, v in enumerate(variables))]
        entries.add(f"second_{index}", {**feeds, **directions}, body, results)


def differentiable(case):
    return [name for name, operand in case.operands.items() if operand.dtype is None]


def check_slopes(model, entry, feeds, variables):
    """The worst relative error of an entry's slopes, which follow the result whose slopes they are: once for a
    gradient, twice for the gradient of a gradient."""
    step, worst = 1e-5, 0.0
    results = model.call(entry, **feeds)
    for place, name in enumerate(variables, 1):
        for at in np.ndindex(feeds[name].shape):
            around = []
            for sign in 1, -1:
                moved = feeds[name].copy()
                moved[at] += sign * step
                around.append(model.call(entry, **{**feeds, name: moved}))
            for first in range(0, len(results), 1 + len(variables)):
                expected = (float(around[0][first]) - float(around[1][first])) / (2 * step)
                wrong = abs(results[first + place][at] - expected)
                worst = max(worst, wrong / max(1.0, abs(expected)))
    return worst


class Recorder:
    """Calls as a recorded case for `tfc run`, in a folder."""

    def __init__(self, folder):
        self.folder, self.steps, self.files = folder, [], 0
        os.makedirs(folder, exist_ok=True)

    def save(self, array):
        self.files += 1
        np.save(os.path.join(self.folder, f"{self.files}.npy"), array)
        return f"{self.files}.npy"

    def add(self, model, entry, feeds, results, limit):
        takes, gives = model.entries[entry]
        files = {name: self.save(feeds[name].astype(dtype)) for name, dtype in takes}
        names = [name for name, _ in gives]
        expected = {name: self.save(np.asarray(r)) for name, r in zip(names, results)}
        step = {"entry": entry, "feeds": files, "fetches": expected}
        self.steps.append({**step, "rtol": limit, "atol": limit})

    def run(self, graph):
        """Returns true if the oracle agrees with all calls; prints differences."""
        case = os.path.join(self.folder, "case.json")
        with open(case, "w", encoding="utf-8") as file:
            json.dump({"init": [], "steps": self.steps}, file)
        ran = subprocess.run(["tfc", "run", graph, "--reference", "--case", case],
                             stdout=subprocess.PIPE, text=True)
        if ran.returncode:
            print("the oracle differs:", ran.stdout)
        return ran.returncode == 0


def check_case(model, index, case, random, recorder):
    for dtype in case.types:
        if f"value_{index}_{dtype}" not in model.entries:
            continue
        for n in case.sizes:
            feeds = {k: o.sample(random, n, dtype) for k, o in case.operands.items()}
            with np.errstate(all="ignore"):
                expected = case.expected(feeds)
            got = model.call(f"value_{index}_{dtype}", **feeds)
            for result, (g, e) in enumerate(zip(got, expected)):
                limit = case.tolerance or {np.float32: 1e-5, np.float16: 1e-2}.get(e.dtype.type)
                wrong = difference(g, e, limit)
                if wrong:
                    yield f"{dtype}, n = {n}, result {result} {wrong}"
            limit = case.tolerance or (1e-2 if dtype == "f16" else 1e-5)
            recorder.add(model, f"value_{index}_{dtype}", feeds, expected, limit)
    for kind in "gradient", "second":
        if f"{kind}_{index}" not in model.entries:
            continue
        variables = differentiable(case)
        for n in [size for size in case.sizes if size]:
            feeds = {k: o.sample(random, n, "f64") for k, o in case.operands.items()}
            expected = case.expected(feeds)[0]
            feeds["weight"] = random.normal(size=expected.shape)
            if kind == "second":
                feeds.update({f"along_{v}": random.normal(size=feeds[v].shape) for v in variables})
            worst = check_slopes(model, f"{kind}_{index}", feeds, variables)
            results = model.call(f"{kind}_{index}", **feeds)
            recorder.add(model, f"{kind}_{index}", feeds, results, 1e-9)
            terms = expected * feeds["weight"]
            if np.isfinite(terms).all() and not abs(results[0] - terms.sum()) <= (case.tolerance or 1e-5) * max(1, np.abs(terms).sum()):
                yield f"{kind}, n = {n}: the loss is {results[0]} instead of {terms.sum()}"
            if not worst < 1e-6:
                yield f"{kind}, n = {n}: differs from central differences by {worst:.1e}"


def in_f64(case, feeds):
    """NumPy's results, computed from f32 feeds in f64, as the oracle does, and cast to their own dtypes."""
    wide = {name: feed.astype(np.float64) if feed.dtype == np.float32 else feed
            for name, feed in feeds.items()}
    with np.errstate(all="ignore"):
        return [w.astype(e.dtype) for w, e in zip(case.expected(wide), case.expected(feeds))]


def record(index, case, random, folder, entries):
    """The calls of those entries as steps of `tfc run --case`: the values that NumPy computes as fetches."""
    names = [f"value_{index}_{dtype}" for dtype in case.types]
    if case.gradient and "f64" in case.types:
        names += [f"second_{index}" if case.second else f"gradient_{index}"]
    for name in [name for name in names if name in entries]:
        dtype = name.rsplit("_", 1)[1] if name.startswith("value") else "f64"
        for n in [size for size in case.sizes if size]:
            feeds = {k: o.sample(random, n, dtype) for k, o in case.operands.items()}
            expected = in_f64(case, feeds)
            fetches = {}
            if name.startswith("value"):
                fetches = {f"r{i}": value for i, value in enumerate(expected)}
            else:
                if expected[0].dtype != np.float64:
                    continue
                feeds["weight"] = random.normal(size=expected[0].shape)
            if name.startswith("second"):
                along = {f"along_{v}": random.normal(size=feeds[v].shape) for v in differentiable(case)}
                feeds.update(along)
            yield {"entry": name, "feeds": save(f"{name}.{n}", feeds, folder),
                   "fetches": save(f"{name}.{n}", fetches, folder)}


def save(prefix, arrays, folder):
    files = {name: f"{prefix}.{name}.npy" for name in arrays}
    for name, array in arrays.items():
        np.save(os.path.join(folder, files[name]), array)
    return files


def compare_with_oracle(target, cases, entries, graph, folder):
    """Checks that the oracle agrees with NumPy, and that compiled values are within its bounds."""
    cpu = target if runs_here(target) else "native"
    steps = [step for index, one in cases
             for step in record(index, one, np.random.default_rng(1000 + index), folder, entries)]
    path = os.path.join(folder, "case.json")
    values = [{**step, "rtol": 1e-2 if "_f16" in step["entry"] else 1e-5} for step in steps
              if step["fetches"]]
    wrong = 0
    for what, *options in (values, "--reference"), (steps, "--compare-with=reference", "--mcpu", cpu):
        bare = [{**step, "fetches": {}} for step in what]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"steps": what if options == ["--reference"] else bare}, file)
        wrong += subprocess.run(["tfc", "run", graph, "--case", path, *options]).returncode != 0
    return wrong


def compare_with_numpy(target, cases, _, graph, folder):
    model, wrong = load(target, graph, os.path.join(folder, "operations.so")), 0
    recorder = Recorder(os.path.join(folder, "recorded"))
    for index, one in cases:
        for what in check_case(model, index, one, np.random.default_rng(1000 + index), recorder):
            wrong += 1
            print(f"{one.name} (case {index}), code for {target}: {what}")
    return wrong if recorder.run(graph) else wrong + 1


def one_in_three(cases):
    """The cases that the short form of the tests takes where other tests compile them, too."""
    return [one for one in cases if is_long() or draw(one.name)[1] // 3 % 3 == 0]


def main():
    table, folder, *mode = sys.argv[1:]
    sys.modules["harness"] = sys.modules["__main__"]  # what the table imports
    read = runpy.run_path(table)
    is_reference = mode == ["reference"]
    compare = compare_with_oracle if is_reference else compare_with_numpy
    is_repeated = is_reference or "TFC_TEST_DEVICE" in os.environ
    chosen = one_in_three(read["CASES"]) if is_repeated else read["CASES"]
    wrong = drawn = 0
    for target, cases in by_target(chosen, lambda one: one.name):
        entries, place = Entries(read.get("USES", "")), os.path.join(folder, target)
        for index, one in cases:
            add_case(entries, index, one, np.random.default_rng(index))
        os.makedirs(place, exist_ok=True)
        graph = os.path.join(place, "operations.graph")
        with open(graph, "w", encoding="utf-8") as file:
            file.write(entries.text)
        drawn += len(cases)
        wrong += compare(target, cases, entries.names, graph, place)
    print(f"{drawn} cases for the targets that they draw, {wrong} wrong")
    return 1 if wrong or not drawn else 0


if __name__ == "__main__":
    sys.exit(main())
