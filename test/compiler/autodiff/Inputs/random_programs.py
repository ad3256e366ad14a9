"""Compares gradients of random programs with central differences: `random_programs.py FIRST COUNT [DIR]`.

With a folder for libraries the programs are also compiled, and the results are those of the evaluation.

Programs nest branches and loops, whose trip counts are constants, an argument, or follow from the
data; they read lists and tables at counters, write lists, and carry values crosswise. Each is
differentiated, every third one twice.
"""

import os
import random
import subprocess
import sys
import tempfile

import numpy as np
from check import SIMPLIFY, check, load
from evaluate import Machine

sys.path.append(os.path.join(os.path.dirname(__file__), "../../../e2e/Inputs"))

V, S, L = "tensor<3xf64>", "tensor<f64>", "!dfg.list<tensor<3xf64>>"
TABLE = "tensor<8x3xf64>"


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.names, self.indent = [], 0, 1

    def emit(self, text):
        self.lines.append("  " * self.indent + text)

    def fresh(self):
        self.names += 1
        return f"%v{self.names}"

    def op(self, text):
        name = self.fresh()
        self.emit(f"{name} = dfg.{text}")
        return name

    def pick(self, values):
        return self.random.choice(values[-4:] if self.random.random() < 0.6 else values)

    def value(self, scope):
        """A new vector from those in scope; bounded, so that nothing explodes."""
        kind = self.random.randrange(7)
        a, b = self.pick(scope["values"]), self.pick(scope["values"])
        if kind < 2:
            return self.op(f"{self.random.choice(['tanh', 'sin', 'sigmoid'])} {a} : {V}")
        if kind == 2:
            return self.op(f"add {a}, {b} : {V}, {V}")
        if kind == 3:
            product = self.op(f"mul {a}, {b} : {V}, {V}")
            return self.op(f"sin {product} : {V}")
        if kind == 4:
            index = self.pick(scope["counters"])
            return self.op(f"gather %table, {index} : {TABLE}, tensor<i32>")
        if kind == 5:
            total = self.op(f"sum {a} : {V}")
            product = self.op(f"mul {total}, {b} : {S}, {V}")
            return self.op(f"tanh {product} : {V}")
        if not scope["lists"]:
            return self.op(f"mul {a}, %half : {V}, {S}")
        # The argument %n is the size of all lists.
        list_value, index = self.pick(scope["lists"]), self.pick(scope["counters"])
        size = self.op(f"list_size {list_value} : {L}")
        is_inside = self.op(f"less {index}, {size} : tensor<i32>, tensor<i32>")
        return self.region_if(
            scope, is_inside, lambda s: self.op(f"list_read {list_value}, {index} : {L}, tensor<i32>")
        )

    def copy(self, scope):
        return {name: list(values) for name, values in scope.items()}

    def region_if(self, scope, condition, make=None):
        name = self.fresh()
        self.emit(f"{name} = dfg.if {condition} : tensor<i1> -> {V} {{")
        for is_first in True, False:
            inner = self.copy(scope)
            self.indent += 1
            if is_first and make:
                result = make(inner)
            else:
                self.statements(inner, self.random.randrange(0, 3))
                result = self.pick(inner["values"])
            self.emit(f"dfg.yield {result} : {V}")
            self.indent -= 1
            self.emit("} else {" if is_first else "}")
        return name

    def branch(self, scope):
        if self.random.random() < 0.5:
            total = self.op(f"sum {self.pick(scope['values'])} : {V}")
            condition = self.op(f"less {total}, %half : {S}, {S}")
        else:
            counter = self.pick(scope["counters"])
            condition = self.op(f"less {counter}, %two : tensor<i32>, tensor<i32>")
        scope["values"].append(self.region_if(scope, condition))

    def loop(self, scope):
        inits = ["%zero"] + [self.pick(scope["values"]) for _ in range(self.random.randint(1, 3))]
        types = ["tensor<i32>"] + [V] * (len(inits) - 1)
        if scope["lists"] and self.random.random() < 0.5:
            inits.append(self.pick(scope["lists"]))
            types.append(L)
        counts = self.random.random() < 0.7
        if not counts:
            inits, types = inits[1:], types[1:]
        names = [self.fresh() for _ in inits]
        results = [f"{names[0]}x#{i}" for i in range(len(inits))]
        attributes = []
        kind = self.random.randrange(3) if counts else 3
        if kind == 0:
            attributes.append("trips = #dfg.dims<3>")
        if self.random.random() < 0.5:
            attributes.append(f'recompute = #dfg.recompute<{self.random.choice(["all", "sqrt"])}>')
        text = f" attributes {{{', '.join(attributes)}}}" if attributes else ""
        self.emit(f"{names[0]}x:{len(inits)} = dfg.while ({', '.join(inits)}) : "
                  f"{', '.join(types)}{text} {{")
        arguments = ", ".join(f"{name}: {type}" for name, type in zip(names, types))
        self.emit(f"^bb0({arguments}):")
        self.indent += 1
        self.condition(names, types, kind)
        self.indent -= 1
        self.emit("} do {")
        self.emit(f"^bb0({arguments}):")
        self.indent += 1
        self.body(scope, names, types, counts)
        self.indent -= 1
        self.emit("}")
        scope["values"] += [r for r, type in zip(results, types) if type == V]
        scope["lists"] += [r for r, type in zip(results, types) if type == L]

    def condition(self, names, types, kind):
        if kind < 3:
            limit = ["%three", "%n", "%two"][kind]
            go = self.op(f"less {names[0]}, {limit} : tensor<i32>, tensor<i32>")
        else:
            first = next(name for name, type in zip(names, types) if type == V)
            total = self.op(f"sum {first} : {V}")
            go = self.op(f"greater {total}, %small : {S}, {S}")
        self.emit(f"dfg.condition {go} : tensor<i1>")

    def body(self, scope, names, types, counts):
        inner = self.copy(scope)
        inner["depth"].append(0)
        inner["values"] += [name for name, type in zip(names, types) if type == V]
        yields = []
        if counts:
            inner["counters"].append(names[0])
        self.statements(inner, self.random.randrange(1, 4))
        for name, type in zip(names, types):
            if type == "tensor<i32>":
                yields.append(self.op(f"add {name}, %one : tensor<i32>, tensor<i32>"))
            elif type == L:
                yields.append(self.write(inner, name))
            elif not counts and len(yields) == 0:
                # The value in the condition shrinks, so that the loop ends.
                bounded = self.op(f"tanh {self.pick(inner['values'])} : {V}")
                part = self.op(f"mul {bounded}, %tenth : {V}, {S}")
                less = self.op(f"mul {name}, %half : {V}, {S}")
                sum = self.op(f"add {part}, {less} : {V}, {V}")
                yields.append(self.op(f"sub {sum}, %tenth : {V}, {S}"))
            else:
                yields.append(self.pick(inner["values"]))
        self.emit(f"dfg.yield {', '.join(yields)} : {', '.join(types)}")

    def write(self, scope, name):
        """The list with an element written where there is one."""
        index = self.pick(scope["counters"])
        size = self.op(f"list_size {name} : {L}")
        is_inside = self.op(f"less {index}, {size} : tensor<i32>, tensor<i32>")
        value = self.pick(scope["values"])
        if self.random.random() < 0.5:  # always inside where the counter is that of a loop of n
            result = self.fresh()
            self.emit(f"{result} = dfg.if {is_inside} : tensor<i1> -> {L} {{")
            self.emit(f"  {result}a = dfg.list_write {name}, {index}, {value} : {L}, tensor<i32>, {V}")
            self.emit(f"  dfg.yield {result}a : {L}")
            self.emit("} else {")
            self.emit(f"  dfg.yield {name} : {L}")
            self.emit("}")
            return result
        clamped = self.op(f"select {is_inside}, {index}, %zero : tensor<i1>, tensor<i32>, tensor<i32>")
        return self.op(f"list_write {name}, {clamped}, {value} : {L}, tensor<i32>, {V}")

    def statements(self, scope, count):
        for _ in range(count):
            kind = self.random.random()
            if kind < 0.25 and len(scope["depth"]) < 3:
                self.loop(scope)
            elif kind < 0.4:
                self.branch(scope)
            else:
                scope["values"].append(self.value(scope))

    def text(self, twice):
        self.emit("%zero = dfg.constant dense<0> : tensor<i32>")
        for name, value in ("one", 1), ("two", 2), ("three", 3):
            self.emit(f"%{name} = dfg.constant dense<{value}> : tensor<i32>")
        for name, value in ("half", 0.5), ("small", 0.25), ("tenth", 0.1):
            self.emit(f"%{name} = dfg.constant dense<{value}> : {S}")
        self.emit("%list0 = dfg.list_create %n {shape = #dfg.dims<3>, dtype = f64} : tensor<i32>")
        self.emit(f"%list1 = dfg.list_unstack %table : {TABLE}")
        scope = {"values": ["%x", "%w"], "counters": ["%zero", "%one"],
                 "lists": ["%list0", "%list1"], "depth": []}
        self.statements(scope, 2)
        self.loop(scope)
        self.statements(scope, 2)
        y = scope["values"][-1]
        for other in scope["values"][-3:-1]:
            y = self.op(f"add {y}, {other} : {V}, {V}")
        loss = self.op(f"sum {y} : {V}")
        types = f"({S}, {V}, {V}, {TABLE}) -> ({V}, {V}, {TABLE})"
        self.emit(f"%g:3 = dfg.gradients {loss}, [%x, %w, %table] : {types}")
        if twice:
            self.emit(f"%a = dfg.mul %g#0, %w : {V}, {V}")
            self.emit(f"%b = dfg.mul %a, %g#1 : {V}, {V}")
            self.emit(f"%c = dfg.sum %b : {V}")
            self.emit(f"%d = dfg.sin %g#2 : {TABLE}")
            self.emit(f"%e = dfg.sum %d : {TABLE}")
            self.emit(f"%f = dfg.add %c, %e : {S}, {S}")
            self.emit(f"%h:3 = dfg.gradients %f, [%x, %w, %table] : {types}")
        last = "h" if twice else "g"
        results = f"{S}, {V}, {V}, {TABLE}"
        first = "%f" if twice else loss
        self.emit(f"dfg.return {first}, %{last}#0, %{last}#1, %{last}#2 : {results}")
        types = zip(["n", "x", "w", "table"], ["tensor<i32>", V, V, TABLE])
        feeds = ", ".join(f'%{name}: {type} {{dfg.name = "{name}"}}' for name, type in types)
        types = enumerate([S, V, V, TABLE])
        fetches = ", ".join(f'{type} {{dfg.name = "r{i}"}}' for i, type in types)
        head = f"module @m {{\ndfg.entry @f({feeds}) -> ({fetches}) {{"
        end = "}\ndfg.entry @tfc.init() attributes {initializer} { dfg.return }\n}\n"
        return "\n".join([head, *self.lines, end])


def compare_compiled(path, folder, entry, seed):
    """Compares the library of a program with its evaluation."""
    from model import Model

    library = os.path.join(folder, "program.so")
    command = ["tfc", "compile", path, "--start-after=frontend", "-o", library]
    subprocess.run(command, check=True, timeout=60)
    model = Model(library, threads=1)
    for trips in 0, 1, 5, 2:
        random = np.random.default_rng(seed)
        feeds = [np.array(trips, np.int32)] + [random.uniform(0.2, 1.2, s) for s in [3, 3, (8, 3)]]
        expected = Machine().run(entry, feeds)
        results = model.call("f", **dict(zip(["n", "x", "w", "table"], feeds)))
        for i, (result, value) in enumerate(zip(results, expected)):
            np.testing.assert_allclose(result, value, 1e-9, 1e-12, err_msg=f"n {trips}, result {i}")
    os.remove(library)


def main(first, count, folder=None):
    for seed in range(first, first + count):
        text = Program(seed).text(twice=seed % 3 == 0)
        with tempfile.NamedTemporaryFile("w", suffix=".mlir", delete=False) as file:
            file.write(text)
        for passes in [], SIMPLIFY:
            entry = load(file.name, *passes)["f"]
            for trips in 0, 1, 5:
                name = f"seed {seed} ({file.name}){' simplified' if passes else ''}"
                check(name, entry, trips, np.random.default_rng(seed))
        if folder:
            compare_compiled(file.name, folder, entry, seed)
        os.remove(file.name)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
