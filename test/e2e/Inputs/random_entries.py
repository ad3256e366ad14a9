"""Random entries over shared variables, compiled and computed with NumPy.

random_entries.py FOLDER BEGIN END: a graph for each seed in [BEGIN, END), compiled into FOLDER.

Statements assign, bind and look up in program order; values are small integers, so that results are
exact. A look-up that is out of range must fail the call and leave every variable as it was.
"""

import os
import random
import re
import subprocess
import sys

import numpy as np

from model import Failed, Model

WIDTH = 8
SHAPES = {"rows": f"f32[n, {WIDTH}]", "row": f"f32[{WIDTH}]", "square": f"f32[{WIDTH}, {WIDTH}]",
          "scalar": "f32", "column": "f32[n]", "pairs": "f32[n, n]"}
STATE = {"row": (WIDTH,), "square": (WIDTH, WIDTH), "scalar": ()}
# Ways to compute a value of each kind from others; values that may grow are clipped.
FORMS = {
    "rows": ["{rows} + {row}", "clip(matmul({rows}, {square}))", "clip(matmul({pairs}, {rows}))"],
    "row": ["clip(sum({rows}, axis: 0))", "clip(sum({square}, axis: 1))", "gather({row}, at)",
            "max({square}, axis: 0)"],
    "square": ["clip(matmul(transpose({rows}), {rows}))", "transpose({square})",
               "{square} - {row}", "clip(matmul({square}, {square}))"],
    "scalar": ["clip(sum({row}))", "clip(sum({column}))", "max({square})"],
    "column": ["clip(sum({rows}, axis: 1))", "max({rows}, axis: 1)", "clip(sum({pairs}, axis: 1))"],
    "pairs": ["clip(matmul({rows}, transpose({rows})))", "transpose({pairs})",
              "{pairs} + {column}"],
}
FIRST = {"rows": "x", "row": "y", "square": "clip(matmul(transpose(x), x))", "scalar": "sum(y)",
         "column": "sum(x, axis: 1)", "pairs": "clip(matmul(x, transpose(x)))"}


class OutOfRange(Exception):
    pass


def gather(values, indices):
    if (indices < 0).any() or (indices >= len(values)).any():
        raise OutOfRange
    return values[indices]


def largest(values, axis=None):
    return values.max(axis=axis, initial=-np.inf)


def clip(values):
    return np.clip(values, -6, 6)


FUNCTIONS = {"minimum": np.minimum, "maximum": np.maximum, "matmul": np.matmul, "clip": clip,
             "transpose": np.transpose, "sum": np.sum, "max": largest, "gather": gather}


class Program:
    """A graph of random entries, as text and as statements."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.state = {"at": np.arange(WIDTH, dtype=np.int32) // 2}
        self.variables = {kind: [] for kind in STATE}
        lines = ["graph random", "", "fn clip(v: T[..s]) -> T[..s] {",
                 "  return minimum(maximum(v, -6.0), 6.0)", "}", "",
                 f"var at: i32[{WIDTH}] = [{', '.join(map(str, self.state['at']))}]"]
        for i in range(self.random.randint(2, 6)):
            kind, value = self.random.choice(list(STATE)), self.random.randint(-2, 2)
            self.variables[kind].append(f"v{i}")
            self.state[f"v{i}"] = np.full(STATE[kind], value, np.float32)
            lines.append(f"var v{i}: {SHAPES[kind]} = full({value}.0)")
        self.entries = [self.entry(number, lines) for number in range(2)]
        self.text = "\n".join(lines) + "\n"

    def entry(self, number, lines):
        self.names = {kind: [] for kind in SHAPES}
        body = []
        for i in range(self.random.randint(2, 9)):
            choice = self.random.random()
            if choice < 0.1:
                body.append(("at", "at + step"))
            elif choice < 0.55:
                kind = self.random.choice(list(SHAPES))
                body.append((f"t{i}", f"clip({self.expression(kind)})"))
                self.names[kind].append(f"t{i}")
            else:
                kind = self.random.choice([kind for kind in STATE if self.variables[kind]])
                name = self.random.choice(self.variables[kind])
                body.append((name, f"clip({self.expression(kind)})"))
        kinds = [self.random.choice(list(SHAPES)) for _ in range(self.random.randint(1, 4))]
        results = [self.leaf(kind) for kind in kinds]
        types = ", ".join(f"r{i}: {SHAPES[kind]}" for i, kind in enumerate(kinds))
        bound = self.random.choice(["n", "n <= 300"])
        lines += ["", f"entry e{number}(x: f32[{bound}, {WIDTH}], y: f32[{WIDTH}], step: i32)"
                  f" -> ({types}) {{"]
        for name, value in body:
            is_variable = name in self.state
            lines.append(f"  assign({name}, {value})" if is_variable else f"  {name} = {value}")
        lines += [f"  return {', '.join(results)}", "}"]
        return body, results

    def leaf(self, kind):
        known = self.names[kind] + self.variables.get(kind, [])
        return self.random.choice(known or [FIRST[kind]])

    def expression(self, kind, depth=0):
        choice = self.random.random()
        if depth > 2 or choice < 0.2:
            return self.leaf(kind)
        if choice < 0.5:
            function = self.random.choice(["minimum", "maximum"])
            lhs, rhs = self.expression(kind, depth + 1), self.expression(kind, depth + 1)
            return f"{function}({lhs}, {rhs})"
        form = self.random.choice(FORMS[kind])
        return "(" + re.sub(r"{(\w+)}", lambda m: self.expression(m[1], depth + 1), form) + ")"

    def run(self, number, feeds):
        """The results of an entry; changes the state unless it fails."""
        state, local = dict(self.state), dict(feeds)

        def value(text):
            names = {**FUNCTIONS, **state, **local}
            return np.asarray(eval(text.replace("axis: ", "axis="), {}, names))

        body, results = self.entries[number]
        for name, text in body:
            where = state if name in state else local
            where[name] = value(text).astype(np.int32 if name == "at" else np.float32)
        values = [value(text).astype(np.float32) for text in results]
        self.state = state
        return values


def differences(program, model, rng):
    for call in range(8):
        number, n = rng.integers(2), rng.choice([0, 1, 2, 5, 17, 100, 300])
        feeds = {"x": rng.integers(-4, 5, (n, WIDTH)).astype(np.float32),
                 "y": rng.integers(-4, 5, WIDTH).astype(np.float32),
                 "step": np.int32(rng.integers(-1, 3))}
        try:
            expected = program.run(number, feeds)
        except OutOfRange:
            expected = None
        try:
            results = model.call(f"e{number}", **feeds)
            results = list(results) if isinstance(results, (tuple, list)) else [results]
        except Failed:
            results = None
        if (expected is None) != (results is None):
            wanted = "a failure" if expected is None else "results"
            yield f"call {call} of e{number} with n = {n}: expected {wanted}"
            return
        for i, (want, got) in enumerate(zip(expected or [], results or [])):
            if not np.array_equal(want, got):
                yield f"call {call} of e{number} with n = {n}: result {i}"
        for name, want in program.state.items():
            if not np.array_equal(want, model[name]):
                yield f"call {call} of e{number} with n = {n}: variable {name}"


def main():
    folder, begin, end = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    wrong = 0
    for seed in range(begin, end):
        program = Program(seed)
        graph, library = (os.path.join(folder, f"{seed}{end}") for end in (".graph", ".so"))
        with open(graph, "w") as file:
            file.write(program.text)
        level = "0" if seed % 4 == 3 else "3"
        subprocess.run(["tfc", "compile", "-O", level, graph, "-o", library], check=True)
        model = Model(library, threads=2)
        for difference in differences(program, model, np.random.default_rng(seed)):
            print(f"{graph}: {difference}")
            wrong += 1
    print(f"{end - begin} graphs, {wrong} differences")


main()
