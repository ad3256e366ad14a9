"""Elementwise kernels: shapes with tails, element types, access maps, gathers."""

import numpy as np
from kernels import TYPES, Cases

rng = np.random.default_rng(1)
cases = Cases()

# y = x * x + 1 on a flat dynamic size, all types
for kind, dtype in TYPES.items():
    if kind in ("bf16", "i1"):
        continue
    real = kind[0] == "f"
    op = "f" if real else "i"
    wide = "f32" if kind == "f16" else kind
    one = "1.0" if real else "1"
    into = f"%w = arith.extf %a : f16 to f32" if kind == "f16" else ""
    value = "%w" if kind == "f16" else "%a"
    out = "%q = arith.truncf %r : f32 to f16" if kind == "f16" else ""
    result = "%q" if kind == "f16" else "%r"
    cases.kernel(f"""
kernel.func @square_{kind}(%n: index, %x: tensor<?x{kind}> {{kernel.shape = affine_map<()[s0] -> (s0)>}})
    -> (tensor<?x{kind}> {{kernel.shape = affine_map<()[s0] -> (s0)>}}) {{
  %c = arith.constant {one} : {wide}
  %e = tensor.empty(%n) : tensor<?x{kind}>
  %y = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}} ins(%x : tensor<?x{kind}>) outs(%e : tensor<?x{kind}>) {{
  ^bb0(%a: {kind}, %o: {kind}):
    {into}
    %p = arith.mul{op} {value}, {value} : {wide}
    %r = arith.add{op} %p, %c : {wide}
    {out}
    linalg.yield {result} : {kind}
  }} -> tensor<?x{kind}>
  kernel.return %y : tensor<?x{kind}>
}}""")
    for n in [0, 1, 7, 16, 17, 63, 64, 65, 100, 1000]:
        x = (rng.standard_normal(n) * 5).astype(dtype)
        with np.errstate(over="ignore"):
            want = (x.astype(np.float32) ** 2 + 1).astype(dtype) if kind == "f16" else x * x + dtype(1)
        cases.check(f"square_{kind}", [n], [x], [want], rtol=1e-3 if kind == "f16" else 1e-6)

# bf16 and booleans
cases.kernel("""
kernel.func @bf16_round(%x: tensor<37xbf16>, %m: tensor<37xi1>) -> (tensor<37xbf16>, tensor<37xi1>) {
  %e = tensor.empty() : tensor<37xbf16>
  %f = tensor.empty() : tensor<37xi1>
  %y:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>,
      affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %m : tensor<37xbf16>, tensor<37xi1>) outs(%e, %f : tensor<37xbf16>, tensor<37xi1>) {
  ^bb0(%a: bf16, %b: i1, %o: bf16, %q: i1):
    %w = arith.extf %a : bf16 to f32
    %third = arith.constant 0.333333 : f32
    %p = arith.mulf %w, %third : f32
    %s = arith.select %b, %p, %w : f32
    %r = arith.truncf %s : f32 to bf16
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpf olt, %s, %zero : f32
    %d = arith.xori %c, %b : i1
    linalg.yield %r, %d : bf16, i1
  } -> (tensor<37xbf16>, tensor<37xi1>)
  kernel.return %y#0, %y#1 : tensor<37xbf16>, tensor<37xi1>
}""")


def to_bf16(x):
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), rounded)


def from_bf16(x):
    return (x.astype(np.uint32) << 16).view(np.float32)


x = to_bf16(rng.standard_normal(37).astype(np.float32))
mask = rng.random(37) < 0.5
w = from_bf16(x)
s = np.where(mask, w * np.float32(0.333333), w)
cases.check("bf16_round", [], [x, mask], [to_bf16(s), (s < 0) ^ mask])

# access maps: [n, 20] from transposed, reversed, strided, broadcast and sliced operands
cases.kernel("""
kernel.func @views(%n: index,
    %t: tensor<20x?xf32> {kernel.shape = affine_map<()[s0] -> (20, s0)>},
    %r: tensor<?x20xf32> {kernel.shape = affine_map<()[s0] -> (s0, 20)>},
    %s: tensor<?x41xf32> {kernel.shape = affine_map<()[s0] -> (s0, 41)>},
    %row: tensor<20xf32>, %col: tensor<?x1xf32> {kernel.shape = affine_map<()[s0] -> (s0, 1)>},
    %c: tensor<3xf32>)
    -> (tensor<?x20xf32> {kernel.shape = affine_map<()[s0] -> (s0, 20)>}) {
  %e = tensor.empty(%n) : tensor<?x20xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>,
      affine_map<(d0, d1) -> (d0, 19 - d1)>, affine_map<(d0, d1) -> (d0, d1 * 2 + 1)>,
      affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (2)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%t, %r, %s, %row, %col, %c : tensor<20x?xf32>, tensor<?x20xf32>, tensor<?x41xf32>,
          tensor<20xf32>, tensor<?x1xf32>, tensor<3xf32>) outs(%e : tensor<?x20xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %f: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.mulf %d, %f : f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.subf %2, %g : f32
    %4 = arith.mulf %3, %h : f32
    linalg.yield %4 : f32
  } -> tensor<?x20xf32>
  kernel.return %y : tensor<?x20xf32>
}""")
for n in [0, 1, 5, 33]:
    t, r, s = rng.random((20, n)), rng.random((n, 20)), rng.random((n, 41))
    row, col, c = rng.random(20), rng.random((n, 1)), rng.random(3)
    a = [v.astype(np.float32) for v in (t, r, s, row, col, c)]
    want = (a[0].T + a[1][:, ::-1] + a[2][:, 1::2] * a[3] - a[4]) * a[5][2]
    cases.check("views", [n], a, [want.astype(np.float32)], rtol=1e-5, atol=1e-5)

# a chain of producers, one read at two positions, and a bias
cases.kernel("""
kernel.func @chain(%n: index, %x: tensor<?x10xf32> {kernel.shape = affine_map<()[s0] -> (s0, 10)>},
    %b: tensor<10xf32>) -> (tensor<?x10xf32> {kernel.shape = affine_map<()[s0] -> (s0, 10)>}) {
  %e = tensor.empty(%n) : tensor<?x10xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x10xf32>, tensor<10xf32>)
      outs(%e : tensor<?x10xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %1 = arith.addf %p, %q : f32
    linalg.yield %1 : f32
  } -> tensor<?x10xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 9 - d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%0, %0 : tensor<?x10xf32>, tensor<?x10xf32>)
      outs(%e : tensor<?x10xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    %3 = arith.mulf %p, %q : f32
    %4 = arith.addf %3, %f : f32
    linalg.yield %4 : f32
  } -> tensor<?x10xf32>
  kernel.return %2 : tensor<?x10xf32>
}""")
for n in [0, 1, 9]:
    x, bias = rng.random((n, 10)).astype(np.float32), rng.random(10).astype(np.float32)
    h = x + bias
    want = h * h[:, ::-1] + np.arange(10, dtype=np.float32)
    cases.check("chain", [n], [x, bias], [want], rtol=1e-5)

# gathers: rows by index, and single elements
cases.kernel("""
kernel.func @embed(%n: index, %i: tensor<?xi64> {kernel.shape = affine_map<()[s0] -> (s0)>},
    %t: tensor<50x24xf32>) -> (tensor<?x24xf32> {kernel.shape = affine_map<()[s0] -> (s0, 24)>},
    tensor<?xf32> {kernel.shape = affine_map<()[s0] -> (s0)>}) {
  %e = tensor.empty(%n) : tensor<?x24xf32>
  %f = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?xi64>) outs(%e : tensor<?x24xf32>) {
  ^bb0(%k: i64, %o: f32):
    %r = arith.index_cast %k : i64 to index
    %c = linalg.index 1 : index
    %v = tensor.extract %t[%r, %c] : tensor<50x24xf32>
    linalg.yield %v : f32
  } -> tensor<?x24xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%i : tensor<?xi64>) outs(%f : tensor<?xf32>) {
  ^bb0(%k: i64, %o: f32):
    %r = arith.index_cast %k : i64 to index
    %c = arith.constant 3 : index
    %v = tensor.extract %t[%r, %c] : tensor<50x24xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  kernel.return %y, %z : tensor<?x24xf32>, tensor<?xf32>
}""")
table = rng.random((50, 24)).astype(np.float32)
for n in [0, 1, 16, 35]:
    index = rng.integers(0, 50, n)
    cases.check("embed", [n], [index, table], [table[index], table[index, 3]])

# an optimizer step: two variables of different shape, in place, one scalar
update = """
  %{o}:2 = linalg.generic {{indexing_maps = [{m}, {m}, {m}, affine_map<({d}) -> ()>, {m}, {m}],
      iterator_types = [{it}]}} ins(%p{o}, %m{o}, %g{o}, %lr : {t}, {t}, {t}, tensor<f32>)
      outs(%e{o}, %e{o} : {t}, {t}) {{
  ^bb0(%p: f32, %v: f32, %g: f32, %l: f32, %o1: f32, %o2: f32):
    %c = arith.constant 0.9 : f32
    %1 = arith.mulf %v, %c : f32
    %2 = arith.addf %1, %g : f32
    %3 = arith.mulf %2, %l : f32
    %4 = arith.subf %p, %3 : f32
    linalg.yield %4, %2 : f32, f32
  }} -> ({t}, {t})"""
a = update.format(o="a", m="affine_map<(d0, d1) -> (d0, d1)>", d="d0, d1",
                  it='"parallel", "parallel"', t="tensor<13x7xf32>")
b = update.format(o="b", m="affine_map<(d0) -> (d0)>", d="d0", it='"parallel"', t="tensor<29xf32>")
cases.kernel(f"""
kernel.func @momentum(%pa: tensor<13x7xf32>, %ma: tensor<13x7xf32>, %ga: tensor<13x7xf32>,
    %pb: tensor<29xf32>, %mb: tensor<29xf32>, %gb: tensor<29xf32>, %lr: tensor<f32>)
    -> (tensor<13x7xf32> {{kernel.in_place = 0 : i32}}, tensor<13x7xf32> {{kernel.in_place = 1 : i32}},
        tensor<29xf32> {{kernel.in_place = 3 : i32}}, tensor<29xf32>) {{
  %ea = tensor.empty() : tensor<13x7xf32>
  %eb = tensor.empty() : tensor<29xf32>
  {a}
  {b}
  kernel.return %a#0, %a#1, %b#0, %b#1 : tensor<13x7xf32>, tensor<13x7xf32>, tensor<29xf32>, tensor<29xf32>
}}""")
v = [rng.random(s).astype(np.float32) for s in [(13, 7)] * 3 + [(29,)] * 3 + [()]]
ma, mb = v[1] * np.float32(0.9) + v[2], v[4] * np.float32(0.9) + v[5]
cases.check("momentum", [], v, [v[0] - ma * v[6], ma, v[3] - mb * v[6], mb], rtol=1e-5, atol=1e-6,
            inplace={0: 0, 1: 1, 2: 3})

cases.run()
