"""layers.py LIBRARY FOLDER TABLE: checks the parts in a table against NumPy in f64, f32 and f16, and the gradients
of their operands and variables against central differences in f64.

A table lists cases: an instance, a call of it, and the function that NumPy computes of the variables and
operands. `{T}` is the element type: f64 in each case, f32 and f16 in every other one. LIBRARY is the folder of the graph source that ships.
"""

import os
import re
import runpy
import sys

import numpy as np

for folder in ("Inputs", "operations/Inputs"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", folder))

from agree import difference
from targets import by_target, load


class Case:
    """`results` are the shapes of the results of the call."""

    def __init__(self, instance, call, function, *results, **operands):
        self.part, self.instance, self.call = instance.lstrip("[").split("(")[0], instance, call
        self.function, self.results, self.operands = function, results, operands
        self.name = f"{instance}: {call}" if instance else call

    def sample(self, random, n, real):
        def draw(shape):
            kind, *sizes = shape
            sizes = [n if size == "n" else size for size in sizes]
            if kind == "bool":
                return random.random(sizes) < 0.7
            if kind == "i32":
                return random.integers(0, 5, sizes).astype(np.int32)
            return random.normal(size=sizes).astype(real)

        return {name: draw(shape) for name, shape in self.operands.items()}


def case(*arguments, **operands):
    return Case(*arguments, **operands)


TOLERANCE = {np.float64: 1e-10, np.float32: 2e-4, np.float16: 3e-2}
# Parts without a result for a size of 0: they divide by it, or take the mean of no elements.
NOT_EMPTY = {"batch_norm", "instance_norm", "group_norm"}


def entry(name, feeds, body, results):
    takes = ", ".join(f"{feed}: {kind}" for feed, kind in feeds.items())
    gives = ", ".join(f"r{i}: {kind}" for i, (_, kind) in enumerate(results))
    lines = "".join(f"  {line}\n" for line in [*body, "return " + ", ".join(v for v, _ in results)])
    return f"\nentry {name}({takes}) -> ({gives}) {{\n{lines}}}\n"


def tensor_type(kind, sizes, real):
    dtype = real if kind == "real" else kind
    return f"{dtype}[{', '.join(map(str, sizes))}]" if len(sizes) else dtype


def uses(cases, library):
    """The `use` lines for the names of shipped files in the cases."""
    words = {word for one in cases for word in re.findall(r"\w+", one.instance + " " + one.call)}
    text = ""
    modules = {"layers": ("layers", "convolutions", "sequences"), "images": ("images",), "losses": ("losses",)}
    for name, files in modules.items():
        known = []
        for one in files:
            with open(f"{library}/{one}.graph", encoding="utf-8") as file:
                known += re.findall(r"^(?:part|fn) ([a-z]\w*)", file.read(), re.M)
        used = [word for word in known if word in words]
        text += f"use {name}: {', '.join(used)}\n" if used else ""
    return text


def chosen(cases, real):
    """Each second case in f32, the others in f16, to compile less."""
    return [(i, one) for i, one in cases if real == "f64" or i % 2 == (real == "f32")]


def graph(cases, real, library):
    """The graph text: an entry for the values of each case, and in f64 one for the gradients."""
    text = f"graph cases\n{uses([one for _, one in cases], library)}"
    for index, one in cases:
        if one.part:
            text += f"let p{index} = {one.instance.replace('{T}', real)}\n"
        feeds = {k: tensor_type(s[0], s[1:], real) for k, s in one.operands.items()}
        names = [f"y{i}" for i in range(len(one.results))]
        call = re.sub(r"\bit\b", f"p{index}", one.call.replace("{T}", real))
        statement = f"{', '.join(names)} = {call}"
        types = [tensor_type("real", shape, real) for shape in one.results]
        text += entry(f"value_{index}", feeds, [statement], list(zip(names, types)))
        if real == "f64":
            text += gradient_entry(index, one, feeds, statement, types[0])
    return text


def gradient_entry(index, one, feeds, statement, result):
    """The loss, the gradients of operands, and those of variables, which are subtracted from these."""
    operands = [k for k, s in one.operands.items() if s[0] == "real"]
    body = [statement, "loss = sum(y0 * weight)"]
    results = [("loss", "f64"), *[(f"slope_{k}", feeds[k]) for k in operands]]
    body += [f"slope_{k} = as_tensor(gradients(loss, {k}))" for k in operands]
    feeds = {**feeds, "weight": result, "step": "f64"}
    if one.part and "affine: false" not in one.instance:
        body += ["let vars = trainable(loss)", "static for v, g in zip(vars, gradients(loss, vars)) {",
                 "  update(v, g, touched(v, g) + step * values(g))", "}"]
    return entry(f"gradient_{index}", feeds, body, results)


def randomise(model, prefix, random):
    """Draws new values for the variables whose names begin with `prefix`."""
    values = {}
    for name in [n for n in model.variables if n.startswith(prefix)]:
        value = random.normal(size=model[name].shape) * 0.5
        model[name] = np.abs(value) + 0.2 if name.endswith("variance") else value
        values[name.removeprefix(prefix)] = model[name].astype(np.float64)
    return values


def check_values(model, index, one, random, real):
    for n in (1, 3) if one.part in NOT_EMPTY else (0, 1, 3):
        values = randomise(model, f"p{index}.", random)
        feeds = one.sample(random, n, real)
        exact = [feed.astype("d") if feed.dtype == real else feed for feed in feeds.values()]
        with np.errstate(all="ignore"):
            expected = one.function(values, *exact)
        expected = expected if isinstance(expected, tuple) else (expected,)
        # The library returns the state after y; the function's last state is the end of y.
        for at, (got, want) in enumerate(zip(model.call(f"value_{index}", **feeds), expected)):
            wrong = difference(got, want.astype(real), TOLERANCE[real])
            if wrong:
                yield f"{np.dtype(real)}, n = {n}, result {at} {wrong}"


def check_gradients(model, index, one, random):
    for n in (1, 3):
        values = randomise(model, f"p{index}.", random)
        feeds = one.sample(random, n, np.float64)
        shape = np.shape(model.call(f"value_{index}", **feeds)[0])
        start = {f"p{index}.{name}": value for name, value in values.items()}
        feeds.update(weight=random.normal(size=shape), step=np.float64(0))

        def loss(feeds, variables, step=0.0):
            for name, value in {**start, **variables}.items():
                model[name] = value
            return model.call(f"gradient_{index}", **{**feeds, "step": np.float64(step)})

        operands = [k for k, s in one.operands.items() if s[0] == "real"]
        slopes = dict(zip(operands, loss(feeds, {}, 1.0)[1:]))
        steps = {name: model[name] - value for name, value in start.items()}
        for name, value in {**{k: feeds[k] for k in operands}, **start}.items():
            if name.endswith(("average", ".variance")):
                continue
            direction = random.normal(size=value.shape)
            around = []
            for sign in 1, -1:
                moved = {name: value + sign * 1e-5 * direction}
                around.append(float((loss({**feeds, **moved}, {}) if name in feeds else loss(feeds, moved))[0]))
            slope = float((slopes[name] if name in feeds else steps[name]).ravel() @ direction.ravel())
            expected = (around[0] - around[1]) / 2e-5
            if not abs(slope - expected) <= 1e-6 * max(1.0, abs(expected)):
                yield f"n = {n}: the slope of {name} is {slope}, by differences {expected}"


def compare(target, cases, real, dtype, library, folder):
    """Returns the number of errors in the cases of one type."""
    path, wrong = f"{folder}/{real}.{target}.graph", 0
    with open(path, "w", encoding="utf-8") as file:
        file.write(graph(cases, real, library))
    model = load(target, path, f"{folder}/{real}.{target}.so")
    for index, one in cases:
        random = np.random.default_rng(index)
        found = list(check_values(model, index, one, random, dtype))
        if real == "f64":
            found += check_gradients(model, index, one, random)
        for what in found:
            wrong += 1
            print(f"{one.name} (case {index}), code for {target}: {what}")
    return wrong


def main():
    library, folder, table = sys.argv[1:]
    sys.modules["layers"] = sys.modules["__main__"]  # what the table imports
    cases, wrong = runpy.run_path(table)["CASES"], 0
    os.makedirs(folder, exist_ok=True)
    for target, own in by_target(cases, lambda one: one.name):
        for real, dtype in ("f32", np.float32), ("f64", np.float64), ("f16", np.float16):
            if some := chosen(own, real):
                wrong += compare(target, some, real, dtype, library, folder)
    print(f"{len(cases)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
