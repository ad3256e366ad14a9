"""Sums of products: layouts, tails, several loops of a kind, element types and epilogues."""

import random

import numpy as np
from kernels import TYPES, Cases

rng = np.random.default_rng(3)
random.seed(3)
cases = Cases()
SIZES = [0, 1, 2, 7, 15, 16, 17, 31, 48, 64, 100, 129, 257]


def to_bf16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(x):
    return (x.astype(np.uint32) << 16).view(np.float32)


class Product:
    """out[c] += a[a] * b[b] over loops named by letters; `dims` gives each a size or a size's name."""

    def __init__(self, name, spec, dims, kind="f32", wide=None, start=None):
        inputs, self.out = spec.split("->")
        self.a, self.b = inputs.split(",")
        self.name, self.dims, self.kind, self.wide = name, dims, kind, wide or kind
        self.names = sorted({d for d in dims.values() if isinstance(d, str)})
        self.real = kind[-3:] in ("f16", "f32", "f64")
        self.start = start or 0
        self.arguments = [f"%{n}: index" for n in self.names]
        self.argument("a", self.a, kind)
        self.argument("b", self.b, kind)
        self.body = [self.root()]

    def tensor(self, letters, kind):
        sizes = [str(s) if isinstance(s, int) else "?" for s in map(self.dims.get, letters)]
        return f"tensor<{'x'.join(sizes + [kind])}>"

    def shaped(self, letters, kind):
        symbols = [f"s{i}" for i in range(len(self.names))]
        of = dict(zip(self.names, symbols))
        sizes = ", ".join(str(of.get(self.dims[c], self.dims[c])) for c in letters)
        shape = f"affine_map<()[{', '.join(symbols)}] -> ({sizes})>"
        return f"{self.tensor(letters, kind)} {{kernel.shape = {shape}}}"

    def argument(self, name, letters, kind):
        self.arguments.append(f"%{name}: {self.shaped(letters, kind)}")

    def empty(self, name, kind):
        sizes = ", ".join(f"%{s}" for s in map(self.dims.get, self.out) if isinstance(s, str))
        return f"%{name} = tensor.empty({sizes}) : {self.tensor(self.out, kind)}\n"

    def root(self):
        loops = list(dict.fromkeys(self.out + self.a + self.b))
        numbered = {c: f"d{i}" for i, c in enumerate(loops)}
        maps = [
            f"affine_map<({', '.join(numbered.values())}) -> ({', '.join(numbered[c] for c in t)})>"
            for t in (self.a, self.b, self.out)
        ]
        kinds = ", ".join('"parallel"' if c in self.out else '"reduction"' for c in loops)
        wide, kind, out = self.wide, self.kind, self.tensor(self.out, self.wide)
        op = "f" if self.real else "i"
        x, y, widen = "%x", "%y", ""
        if wide != kind:
            cast = "arith.extf" if self.real else "arith.extsi"
            widen = f"%u = {cast} %x : {kind} to {wide}\n%v = {cast} %y : {kind} to {wide}\n"
            x, y = "%u", "%v"
        start = f"{float(self.start)}" if self.real else f"{self.start}"
        return f"""{self.empty("e", wide)}
  %z = arith.constant {start} : {wide}
  %i = linalg.fill ins(%z : {wide}) outs(%e : {out}) -> {out}
  %p = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}
      ins(%a, %b : {self.tensor(self.a, kind)}, {self.tensor(self.b, kind)}) outs(%i : {out}) {{
  ^bb0(%x: {kind}, %y: {kind}, %s: {wide}):
    {widen}%m = arith.mul{op} {x}, {y} : {wide}
    %t = arith.add{op} %s, %m : {wide}
    linalg.yield %t : {wide}
  }} -> {out}"""

    def pointwise(self, result, inputs, kind, body):
        """A parallel generic on the output's points; `inputs` are (name, letters, kind)."""
        space = ", ".join(f"d{i}" for i in range(len(self.out)))
        place = {c: f"d{i}" for i, c in enumerate(self.out)}
        maps = [
            f"affine_map<({space}) -> ({', '.join(place[c] for c in letters)})>"
            for letters in [i[1] for i in inputs] + [self.out]
        ]
        types = ", ".join(self.tensor(letters, k) for _, letters, k in inputs)
        values = ", ".join(f"%{name}" for name, _, _ in inputs)
        block = ", ".join(f"%v{i}: {k}" for i, (_, _, k) in enumerate(inputs))
        parallel = ", ".join(['"parallel"'] * len(self.out))
        out = self.tensor(self.out, kind)
        self.body.append(
            f"""{self.empty("e_" + result, kind)}
  %{result} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{parallel}]}}
      ins({values} : {types}) outs(%e_{result} : {out}) {{
  ^bb0({block}, %o: {kind}):
    {body}
  }} -> {out}"""
        )

    def text(self, results):
        shaped = ", ".join(
            self.shaped(self.out, kind).replace("}", f", kernel.in_place = {place} : i32}}")
            if place is not None
            else self.shaped(self.out, kind)
            for _, kind, place in results
        )
        values = ", ".join(f"%{name}" for name, _, _ in results)
        types = ", ".join(self.tensor(self.out, kind) for _, kind, _ in results)
        body = "\n".join(self.body)
        return f"""
kernel.func @{self.name}({', '.join(self.arguments)}) -> ({shaped}) {{
  {body}
  kernel.return {values} : {types}
}}"""

    def shape(self, letters, sizes):
        return tuple(sizes.get(self.dims[c], self.dims[c]) for c in letters)

    def random(self, letters, sizes, kind):
        shape = self.shape(letters, sizes)
        if kind == "bf16":
            return to_bf16(rng.standard_normal(shape))
        if kind[0] == "i":
            return rng.integers(-100, 100, shape).astype(TYPES[kind])
        return rng.standard_normal(shape).astype(TYPES[kind])

    def reference(self, a, b):
        widened = [from_bf16(x) if self.kind == "bf16" else x for x in (a, b)]
        exact = [x.astype(np.float64 if self.real else np.int64) for x in widened]
        return np.einsum(f"{self.a},{self.b}->{self.out}", *exact) + self.start


TOLERANCE = {"f32": 1e-4, "f64": 1e-12, "f16": 1e-2, "bf16": 4e-2}


def check(product, runs, epilogue=None):
    """Adds the kernel and a call for each of `runs` (sizes by name).

    `epilogue(product)` adds generics and returns its results as (name, kind, overwritten argument)
    and a function from the product and further arguments to expected arrays.
    """
    extra, results, expect = [], [("p", product.wide, None)], lambda p: [p]
    if epilogue:
        extra, results, expect = epilogue(product)
    cases.kernel(product.text(results))
    for sizes in runs:
        a = product.random(product.a, sizes, product.kind)
        b = product.random(product.b, sizes, product.kind)
        more = [product.random(letters, sizes, kind) for letters, kind in extra]
        with np.errstate(over="ignore"):
            expected = [
                e.astype(TYPES[kind])
                for e, (_, kind, _) in zip(expect(product.reference(a, b), *more), results)
            ]
        tolerance = max([TOLERANCE.get(kind, 0) for _, kind, _ in results])
        inplace = {i: place for i, (_, _, place) in enumerate(results) if place is not None}
        cases.check(
            product.name,
            [sizes[n] for n in product.names],
            [a, b, *more],
            expected,
            rtol=tolerance,
            atol=tolerance * 10,
            inplace=inplace,
        )


def bias_relu(p):
    p.argument("c", p.out[-1], p.wide)
    p.pointwise(
        "r",
        [("p", p.out, p.wide), ("c", p.out[-1], p.wide)],
        p.wide,
        f"""%q = arith.addf %v0, %v1 : {p.wide}
    %zero = arith.constant 0.0 : {p.wide}
    %w = arith.maximumf %q, %zero : {p.wide}
    linalg.yield %w : {p.wide}""",
    )
    return [(p.out[-1], p.wide)], [("r", p.wide, None)], lambda y, c: [np.maximum(y + c, 0)]


def descend(p):
    """Gradient product that updates a parameter in place and is stored as well."""
    p.argument("w", p.out, p.wide)
    p.pointwise(
        "r",
        [("p", p.out, p.wide), ("w", p.out, p.wide)],
        p.wide,
        f"""%rate = arith.constant 0.5 : {p.wide}
    %q = arith.mulf %v0, %rate : {p.wide}
    %n = arith.subf %v1, %q : {p.wide}
    linalg.yield %n : {p.wide}""",
    )
    results = [("r", p.wide, 2), ("p", p.wide, None)]
    return [(p.out, p.wide)], results, lambda y, w: [w - 0.5 * y, y]


def long_chain(p):
    """So many operations that they are not repeated after every tile."""
    p.argument("c", p.out[0], p.wide)
    steps = "".join(f"%q{i + 1} = arith.addf %q{i}, %v1 : {p.wide}\n" for i in range(40))
    p.pointwise(
        "r",
        [("p", p.out, p.wide), ("c", p.out[0], p.wide)],
        p.wide,
        f"%q0 = arith.addf %v0, %v1 : {p.wide}\n{steps}linalg.yield %q40 : {p.wide}",
    )

    def expect(y, c):
        return [y + 41 * c.reshape(c.shape + (1,) * (len(p.out) - 1))]

    return [(p.out[0], p.wide)], [("r", p.wide, None)], expect


# All layouts with all sizes unknown.
LAYOUTS = ["mk,kn->mn", "km,kn->mn", "mk,nk->mn", "km,nk->mn"]
for i, layout in enumerate(LAYOUTS):
    runs = [dict(M=m, N=n, K=k) for m in SIZES for n in SIZES for k in SIZES]
    runs = random.sample(runs, 40) + [dict(M=1, N=1, K=1), dict(M=130, N=70, K=1100)]
    check(Product(f"layout_{i}", layout, dict(m="M", n="N", k="K")), runs, [None, bias_relu][i % 2])

# Rows unknown, the rest known: the common case.
for i, (layout, n, k) in enumerate([(0, 128, 64), (0, 10, 128), (2, 128, 10), (0, 33, 7)]):
    product = Product(f"rows_{i}", LAYOUTS[layout], dict(m="M", n=n, k=k))
    check(product, [dict(M=m) for m in SIZES], [bias_relu, None, long_chain, None][i])

# All sizes known: tails in each direction, packed copies, few rows, nothing to add up.
STATIC = [
    (0, 64, 128, 64), (1, 128, 10, 64), (1, 64, 300, 1024), (3, 50, 40, 520), (0, 70, 1024, 300),
    (2, 1, 77, 130), (2, 4, 64, 33), (0, 1, 1300, 900), (0, 3, 20, 0), (0, 5, 1, 9),
]  # fmt: skip
for i, (layout, m, n, k) in enumerate(STATIC):
    check(Product(f"static_{i}", LAYOUTS[layout], dict(m=m, n=n, k=k)), [{}], [descend, None][i % 2])

# A second factor in memory: few rows of f32 read it in place, more rows read copies of blocks, and
# many rows copies of several panels.
RUNS = [
    (1, 2085, 401, "f32", None), (2, 700, 611, "f32", None), (3, 1031, 405, "f32", None),
    (5, 523, 1003, "f32", None), (6, 2052, 303, "f64", None), (4, 1100, 1001, "bf16", "f32"),
    (2, 1500, 1001, "i8", "i32"), (8, 1500, 333, "f32", None), (19, 777, 513, "f64", None),
    (100, 1100, 301, "f32", None), (128, 530, 801, "bf16", "f32"), (33, 1040, 1003, "i8", "i32"),
    (400, 331, 1030, "f32", None), (300, 2100, 257, "f32", None),
]  # fmt: skip
for i, (m, n, k, kind, wide) in enumerate(RUNS):
    check(Product(f"runs_{i}", LAYOUTS[0], dict(m=m, n=n, k=k), kind, wide), [{}], [None, bias_relu][kind == "f32"])
check(Product("runs_batched", "bmk,bkn->bmn", dict(b=40, m=97, n=20, k=70)), [{}])
check(Product("runs_transposed", LAYOUTS[3], dict(m=300, n=150, k=1501)), [{}])

# Element types: in their own type, or widened.
KINDS = [
    ("f64", None), ("f16", "f32"), ("bf16", "f32"), ("i8", None), ("i8", "i32"), ("i16", None),
    ("i32", None), ("i64", None),
]  # fmt: skip
for i, (kind, wide) in enumerate(KINDS):
    runs = [dict(M=m, K=k) for m, k in [(1, 1), (5, 40), (33, 257), (64, 0)]]
    name = f"kind_{kind}_{wide or kind}"
    check(Product(name, LAYOUTS[i % 4], dict(m="M", n=35, k="K"), kind, wide), runs)

# Several loops of a kind, in any order; matrices times vectors; a start that is not zero.
SPECS = [
    ("bmk,bkn->bmn", dict(b=3, m="M", n=17, k=33)),
    ("bhqd,bhkd->bhqk", dict(b=2, h=3, q="M", k=19, d=16)),
    ("bhqk,bhkd->bqhd", dict(b=2, h=3, q=5, k="M", d=16)),
    ("bsd,dhe->bshe", dict(b="M", s=7, d=24, h=3, e=20)),
    ("bshe,hed->bsd", dict(b="M", s=5, h=3, e=20, d=33)),
    ("akb,bck->ac", dict(a=9, b=5, c="M", k=7)),
    ("mk,k->m", dict(m="M", k=70)),
    ("k,kn->n", dict(n="M", k=70)),
    ("k,nk->n", dict(n=50, k="M")),
    ("km,nk->nm", dict(k=40, m=31, n="M")),
]
for i, (spec, dims) in enumerate(SPECS):
    runs = [dict(M=m) for m in (0, 1, 6, 16, 33)]
    check(Product(f"loops_{i}", spec, dims, start=i % 3), runs, [None, long_chain][i == 3])

cases.run()
