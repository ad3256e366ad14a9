"""Random kernels: chains of elementwise operations and reductions over shared dimensions, with
broadcasts, transposes and reversals, results anywhere, and in place where the annotation allows it.

    random_kernels.py [FIRST_SEED [COUNT]]
"""

import os
import random
import re
import sys

import numpy as np
from kernels import Library, run

SIZES = {"a": "s0", "b": "s1", "c": "s2"}


class Kernel:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.kind = self.random.choice(["f32", "f64"])
        self.static = self.random.random() < 0.4
        pick = lambda: self.random.choice([1, 2, 3, 5, 8, 16, 17, 33, 70])
        self.extent = {"a": pick(), "b": pick(), "c": pick()}
        self.lines, self.values, self.count = [], [], 0
        numbers = np.random.default_rng(seed)
        dtype = np.float32 if self.kind == "f32" else np.float64
        self.arguments = []
        for i in range(self.random.randint(1, 4)):
            letters = self.letters(0)
            array = numbers.uniform(-1, 1, [self.extent[l] for l in letters]).astype(dtype)
            self.arguments.append((f"%x{i}", letters, array))
        self.values = list(self.arguments)
        wanted = len(self.arguments) + self.random.randint(1, 9)
        while len(self.values) < wanted:
            self.reduction() if self.random.random() < 0.4 else self.elementwise()
        made = self.values[len(self.arguments) :]
        self.results = self.random.sample(made, self.random.randint(1, min(3, len(made))))
        if made[-1] not in self.results:
            self.results.append(made[-1])

    def letters(self, least):
        chosen = [l for l in "abc" if self.random.random() < 0.6] or ["a"]
        self.random.shuffle(chosen)
        return "".join(chosen[: max(least, len(chosen))])

    def type(self, letters):
        sizes = [str(self.extent[l]) if self.static else "?" for l in letters]
        return f"tensor<{''.join(s + 'x' for s in sizes)}{self.kind}>"

    def shape(self, letters, more=""):
        if self.static:
            return f" {{{more}}}" if more else ""
        sizes = ", ".join(SIZES[l] for l in letters)
        more = f", {more}" if more else ""
        return f" {{kernel.shape = affine_map<()[s0, s1, s2] -> ({sizes})>{more}}}"

    def empty(self, letters):
        name = self.name()
        sizes = "" if self.static else ", ".join("%" + l for l in letters)
        self.lines.append(f"{name} = tensor.empty({sizes}) : {self.type(letters)}")
        return name

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def operands(self, loops, number, turns=True):
        """Values that the loops can read, with the map and the array over the loops for each."""
        usable = [v for v in self.values if set(v[1]) <= set(loops)]
        chosen = []
        for _ in range(number if usable else 0):
            recent = usable[-4:] if self.random.random() < 0.6 else usable
            name, letters, array = self.random.choice(recent)
            turned = turns and self.static and letters and self.random.random() < 0.15
            terms, view = [], array
            for axis, letter in enumerate(letters):
                term = f"d{loops.index(letter)}"
                if turned and axis == len(letters) - 1:
                    term, view = f"{self.extent[letter] - 1} - {term}", np.flip(view, axis)
                terms.append(term)
            order = sorted(range(len(letters)), key=lambda axis: loops.index(letters[axis]))
            view = np.transpose(view, order) if letters else view
            full = view.reshape([self.extent[l] if l in letters else 1 for l in loops])
            chosen.append((name, letters, f"({', '.join(terms)})", full))
        return chosen

    def generic(self, loops, out, iterators, inputs, init, body):
        dims = ", ".join(f"d{i}" for i in range(len(loops)))
        maps = [f"affine_map<({dims}) -> {m}>" for _, _, m, _ in inputs]
        result = ", ".join(f"d{loops.index(l)}" for l in out)
        maps.append(f"affine_map<({dims}) -> ({result})>")
        name = self.name()
        ins = f"ins({', '.join(i[0] for i in inputs)} : {', '.join(self.type(i[1]) for i in inputs)})"
        arguments = ", ".join(f"%i{k}: {self.kind}" for k in range(len(inputs)))
        kinds = ", ".join(f'"{i}"' for i in iterators)
        self.lines.append(
            f"{name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}"
            f" {ins} outs({init} : {self.type(out)}) {{\n^bb0({arguments}, %o: {self.kind}):\n{body}\n}}"
            f" -> {self.type(out)}"
        )
        return name

    def combine(self, inputs):
        """A body over the inputs and the array of what it yields."""
        lines, value, array = [], "%i0", inputs[0][3]
        for k, (_, _, _, other) in enumerate(inputs[1:], 1):
            op = self.random.choice(["addf", "subf", "mulf", "maximumf"])
            lines.append(f"%t{k} = arith.{op} {value}, %i{k} : {self.kind}")
            function = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "maximumf": np.maximum}
            value, array = f"%t{k}", function[op](array, other)
        if self.random.random() < 0.5:
            lines.append(f"%u = math.tanh {value} : {self.kind}")
            value, array = "%u", np.tanh(array)
        return lines, value, array

    def elementwise(self):
        loops = self.letters(1)
        inputs = self.operands(loops, self.random.randint(1, 3))
        if not inputs:
            return
        lines, value, array = self.combine(inputs)
        lines.append(f"linalg.yield {value} : {self.kind}")
        init = self.empty(loops)
        name = self.generic(loops, loops, ["parallel"] * len(loops), inputs, init, "\n".join(lines))
        full = np.broadcast_to(array, [self.extent[l] for l in loops])
        self.values.append((name, loops, np.ascontiguousarray(full)))

    def reduction(self):
        loops = self.letters(1)
        out = "".join(self.random.sample(loops, self.random.randint(0, len(loops) - 1)))
        inputs = self.operands(loops, self.random.randint(1, 2), turns=False)
        if set(loops) - set(out) - set("".join(i[1] for i in inputs)) or not inputs:
            return
        lines, value, array = self.combine(inputs)
        op, function, start = self.random.choice(
            [("addf", np.sum, "0.0"), ("maximumf", np.max, "-100.0")]
        )
        lines.append(f"%s = arith.{op} %o, {value} : {self.kind}")
        lines.append(f"linalg.yield %s : {self.kind}")
        constant, empty, fill = self.name(), self.empty(out), self.name()
        t = self.type(out)
        self.lines.append(f"{constant} = arith.constant {start} : {self.kind}")
        self.lines.append(f"{fill} = linalg.fill ins({constant} : {self.kind}) outs({empty} : {t}) -> {t}")
        iterators = ["parallel" if l in out else "reduction" for l in loops]
        name = self.generic(loops, out, iterators, inputs, fill, "\n".join(lines))
        full = np.broadcast_to(array, [self.extent[l] for l in loops])
        reduced = function(full, tuple(i for i, l in enumerate(loops) if l not in out))
        if op == "maximumf":
            reduced = np.maximum(reduced, array.dtype.type(-100))
        kept = [l for l in loops if l in out]
        self.values.append((name, out, np.ascontiguousarray(np.transpose(reduced, [kept.index(l) for l in out]))))

    def text(self):
        sizes = [] if self.static else [f"%{l}: index" for l in "abc"]
        parameters = sizes + [f"{n}: {self.type(l)}{self.shape(l)}" for n, l, _ in self.arguments]
        results = [f"{self.type(l)}{self.shape(l)}" for _, l, _ in self.results]
        body = "\n".join(self.lines)
        returned = ", ".join(n for n, _, _ in self.results)
        types = ", ".join(self.type(l) for _, l, _ in self.results)
        return (
            f"kernel.func @k{self.seed}({', '.join(parameters)}) -> ({', '.join(results)})"
            f" {{\n{body}\nkernel.return {returned} : {types}\n}}"
        )


def place(annotated, kernels):
    """Takes some of the offered buffers: returns the text and result -> argument for each kernel."""
    choices = {}

    def one(match):
        seed, taken, number, places = int(match.group(1)), set(), -1, {}
        chooser = random.Random(seed)

        def result(found):
            nonlocal number
            number += 1
            offered = [int(k) for k in re.findall(r"\d+", found.group(1))]
            offered = [k for k in offered if k not in taken]
            if not offered or chooser.random() < 0.3:
                return ""
            taken.add(offered[0])
            places[number] = offered[0]
            return f"kernel.in_place = {offered[0]} : i32"

        text = re.sub(r"kernel\.may_share = array<i32:? ?(.*?)>", result, match.group(0))
        choices[seed] = places
        return text.replace("{, ", "{").replace("{} ", " ").replace("{}", "")

    text = re.sub(r"kernel\.func @k(\d+)\(.* \{$", one, annotated, flags=re.M)
    return text, choices


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    kernels = [Kernel(seed) for seed in range(first, first + count)]
    opt = os.environ.get("TFC_OPT", "tfc-opt")
    annotated = run([opt, "--tfc-attach-target", "--tfc-prepare-kernels", "--tfc-cpu-annotate"], "\n".join(k.text() for k in kernels))
    text, places = place(annotated, kernels)
    library = Library(text)
    failures = shared = 0
    for kernel in kernels:
        sizes = [] if kernel.static else [kernel.extent[l] for l in "abc"]
        for chunk in [None, 1]:
            given = [a.copy() for _, _, a in kernel.arguments]
            outputs = [given[places[kernel.seed][i]] if i in places[kernel.seed] else np.zeros_like(a)
                       for i, (_, _, a) in enumerate(kernel.results)]
            separate = [o for i, o in enumerate(outputs) if i not in places[kernel.seed]]
            library.call(f"k{kernel.seed}", sizes, given, separate, chunk)
            shared += len(places[kernel.seed])
            tolerance = 1e-3 if kernel.kind == "f32" else 1e-9
            for i, (got, (_, letters, want)) in enumerate(zip(outputs, kernel.results)):
                if not np.allclose(got, want, tolerance, tolerance * max(1, np.abs(want).max())):
                    failures += 1
                    print(f"seed {kernel.seed} chunk {chunk} result {i} over '{letters}' {kernel.extent}"
                          f" in place {places[kernel.seed]}: off by {np.abs(got - want).max()}")
    print(f"{count} kernels, {shared // 2} results in place, {failures} failures")
    sys.exit(failures != 0)


main()
