"""Corner cases: results that nothing computes, constants, scalars, long rows, lanes that must not trap."""

import numpy as np
from kernels import Cases

rng = np.random.default_rng(4)
cases = Cases()


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


# an argument, a constant and a fill returned, one value returned twice
cases.kernel("""
kernel.func @returned(%n: index, %x: tensor<?x3xi16> {kernel.shape = affine_map<()[s0] -> (s0, 3)>})
    -> (tensor<?x3xi16> {kernel.shape = affine_map<()[s0] -> (s0, 3)>}, tensor<5xf32>, tensor<2x2xi1>,
        tensor<?x7xf64> {kernel.shape = affine_map<()[s0] -> (s0, 7)>},
        tensor<?x7xf64> {kernel.shape = affine_map<()[s0] -> (s0, 7)>}) {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %b = arith.constant dense<[[true, false], [false, true]]> : tensor<2x2xi1>
  %v = arith.constant 2.5 : f64
  %e = tensor.empty(%n) : tensor<?x7xf64>
  %f = linalg.fill ins(%v : f64) outs(%e : tensor<?x7xf64>) -> tensor<?x7xf64>
  kernel.return %x, %c, %b, %f, %f : tensor<?x3xi16>, tensor<5xf32>, tensor<2x2xi1>, tensor<?x7xf64>,
      tensor<?x7xf64>
}""")
for n in [0, 1, 40]:
    x = rng.integers(-99, 99, (n, 3)).astype(np.int16)
    want = [x, np.arange(1, 6, dtype=np.float32), np.eye(2, dtype=bool), np.full((n, 7), 2.5), np.full((n, 7), 2.5)]
    cases.check("returned", [n], [x], want)

# scalars: rank 0, a value taken out of a tensor by the kernel itself
cases.kernel("""
kernel.func @scalars(%n: index, %x: tensor<?xf32> {kernel.shape = affine_map<()[s0] -> (s0)>},
    %s: tensor<f32>) -> (tensor<f32>, tensor<?xf32> {kernel.shape = affine_map<()[s0] -> (s0)>}) {
  %v = tensor.extract %s[] : tensor<f32>
  %w = arith.mulf %v, %v : f32
  %e0 = tensor.empty() : tensor<f32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%s : tensor<f32>) outs(%e0 : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>,
      affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %0 : tensor<?xf32>, tensor<f32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    %q = arith.addf %r, %w : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  kernel.return %0, %1 : tensor<f32>, tensor<?xf32>
}""")
for n in [0, 1, 21]:
    x, s = f32(n), f32()
    s = np.asarray(s, np.float32)
    cases.check("scalars", [n], [x, s], [np.asarray(np.exp(s)), x * np.exp(s) + s * s], rtol=1e-6, atol=1e-6)

# division by one number rounds as a division does, with all special values
for kind, dtype in [("f32", np.float32), ("f64", np.float64)]:
    T = f"tensor<?x{kind}> {{kernel.shape = affine_map<()[s0] -> (s0)>}}"
    cases.kernel(f"""
kernel.func @quotient_{kind}(%n: index, %x: {T}, %s: tensor<{kind}>) -> ({T}) {{
  %e = tensor.empty(%n) : tensor<?x{kind}>
  %0 = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>,
      affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}}
      ins(%x, %s : tensor<?x{kind}>, tensor<{kind}>) outs(%e : tensor<?x{kind}>) {{
  ^bb0(%a: {kind}, %b: {kind}, %o: {kind}):
    %r = arith.divf %a, %b : {kind}
    linalg.yield %r : {kind}
  }} -> tensor<?x{kind}>
  kernel.return %0 : tensor<?x{kind}>
}}""")
    info = np.finfo(dtype)
    special = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, info.max, info.tiny, info.tiny / 16, -3.0]
    x = np.concatenate([np.array(special, dtype), (rng.standard_normal(300) * 100).astype(dtype)])
    for divisor in [*special, 7.0, 0.1, 1e-3, info.max / 2, info.tiny * 3]:
        divisor = np.array(divisor, dtype)
        with np.errstate(all="ignore"):
            want = x / divisor
        cases.check(f"quotient_{kind}", [len(x)], [x, divisor], [want], atol=info.smallest_subnormal)

# integer division: disabled lanes hold zeros and must not trap
cases.kernel("""
kernel.func @divide(%n: index, %x: tensor<?xi32> {kernel.shape = affine_map<()[s0] -> (s0)>},
    %y: tensor<?xi32> {kernel.shape = affine_map<()[s0] -> (s0)>})
    -> (tensor<?xi32> {kernel.shape = affine_map<()[s0] -> (s0)>},
        tensor<?xi32> {kernel.shape = affine_map<()[s0] -> (s0)>}) {
  %e = tensor.empty(%n) : tensor<?xi32>
  %0:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>,
      affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xi32>, tensor<?xi32>) outs(%e, %e : tensor<?xi32>, tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32, %o2: i32):
    %r = arith.floordivsi %a, %b : i32
    %q = arith.remsi %a, %b : i32
    linalg.yield %r, %q : i32, i32
  } -> (tensor<?xi32>, tensor<?xi32>)
  kernel.return %0#0, %0#1 : tensor<?xi32>, tensor<?xi32>
}""")
for n in [1, 16, 19]:
    x, y = rng.integers(-99, 99, n).astype(np.int32), rng.integers(1, 9, n).astype(np.int32)
    y *= rng.choice([-1, 1], n).astype(np.int32)
    cases.check("divide", [n], [x, y], [x // y, np.fmod(x, y)])

# gathers along the lanes, with indices of both widths, inside a bigger expression
for kind in ["i32", "i64"]:
    cases.kernel(f"""
kernel.func @take_{kind}(%n: index, %t: tensor<9x31xf32>,
    %i: tensor<?xi1> {{kernel.shape = affine_map<()[s0] -> (s0)>}},
    %k: tensor<?x{kind}> {{kernel.shape = affine_map<()[s0] -> (s0)>}})
    -> (tensor<9x?xf32> {{kernel.shape = affine_map<()[s0] -> (9, s0)>}}) {{
  %e = tensor.empty(%n) : tensor<9x?xf32>
  %0 = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}}
      ins(%i, %k : tensor<?xi1>, tensor<?x{kind}>) outs(%e : tensor<9x?xf32>) {{
  ^bb0(%f: i1, %a: {kind}, %o: f32):
    %r = linalg.index 0 : index
    %c = arith.index_cast %a : {kind} to index
    %v = tensor.extract %t[%r, %c] : tensor<9x31xf32>
    %z = arith.constant 0.0 : f32
    %s = arith.select %f, %v, %z : f32
    linalg.yield %s : f32
  }} -> tensor<9x?xf32>
  kernel.return %0 : tensor<9x?xf32>
}}""")
    for n in [0, 1, 50]:
        t, k, i = f32(9, 31), rng.integers(0, 31, n).astype(kind.replace("i", "int")), rng.random(n) < 0.5
        cases.check(f"take_{kind}", [n], [t, i, k], [np.where(i, t[:, k], np.float32(0))])

# padding: clamped reads, selected by position
cases.kernel("""
kernel.func @pad(%x: tensor<6x10xf32>) -> (tensor<9x15xf32>) {
  %e = tensor.empty() : tensor<9x15xf32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c9 = arith.constant 9 : index
  %v = arith.constant 7.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%e : tensor<9x15xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i1 = arith.subi %i, %c2 : index
    %j1 = arith.subi %j, %c2 : index
    %i2 = arith.maxsi %i1, %c0 : index
    %j2 = arith.maxsi %j1, %c0 : index
    %i3 = arith.minsi %i2, %c5 : index
    %j3 = arith.minsi %j2, %c9 : index
    %p = arith.cmpi eq, %i1, %i3 : index
    %q = arith.cmpi eq, %j1, %j3 : index
    %in = arith.andi %p, %q : i1
    %t = tensor.extract %x[%i3, %j3] : tensor<6x10xf32>
    %r = arith.select %in, %t, %v : f32
    linalg.yield %r : f32
  } -> tensor<9x15xf32>
  kernel.return %0 : tensor<9x15xf32>
}""")
x = f32(6, 10)
cases.check("pad", [], [x], [np.pad(x, ((2, 1), (2, 3)), constant_values=7)])

# a mean that another loop nest reads (memory between nests), and rows too long for the stack
for m in [33, 20000]:
    cases.kernel(f"""
kernel.func @centre_{m}(%n: index, %x: tensor<?x{m}xf32> {{kernel.shape = affine_map<()[s0] -> (s0, {m})>}})
    -> (tensor<?x{m}xf32> {{kernel.shape = affine_map<()[s0] -> (s0, {m})>}}, tensor<{m}xf32>) {{
  %zero = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<{m}xf32>
  %er = tensor.empty(%n) : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?x{m}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ec : tensor<{m}xf32>) -> tensor<{m}xf32>
  %g = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
      iterator_types = ["reduction", "parallel"]}} ins(%x : tensor<?x{m}xf32>) outs(%f : tensor<{m}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  }} -> tensor<{m}xf32>
  %p = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %s : tensor<?x{m}xf32>, tensor<{m}xf32>) outs(%e : tensor<?x{m}xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.subf %a, %b : f32
    %2 = math.tanh %1 : f32
    linalg.yield %2 : f32
  }} -> tensor<?x{m}xf32>
  %q = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]}} ins(%p : tensor<?x{m}xf32>) outs(%g : tensor<?xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  }} -> tensor<?xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}}
      ins(%p, %q : tensor<?x{m}xf32>, tensor<?xf32>) outs(%e : tensor<?x{m}xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  }} -> tensor<?x{m}xf32>
  kernel.return %r, %s : tensor<?x{m}xf32>, tensor<{m}xf32>
}}""")
    for n in [0, 1, 6]:
        x = f32(n, m)
        s = x.sum(0)
        p = np.tanh(x - s)
        cases.check(f"centre_{m}", [n], [x], [p + p.sum(1, keepdims=True), s], rtol=1e-4, atol=5e-3)

# windows: a convolution and a maximum over overlapping windows
cases.kernel("""
kernel.func @windows(%n: index, %x: tensor<?x9x11x3xf32> {kernel.shape = affine_map<()[s0] -> (s0, 9, 11, 3)>},
    %w: tensor<3x2x3x5xf32>)
    -> (tensor<?x4x5x5xf32> {kernel.shape = affine_map<()[s0] -> (s0, 4, 5, 5)>},
        tensor<?x4x5x3xf32> {kernel.shape = affine_map<()[s0] -> (s0, 4, 5, 3)>}) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%n) : tensor<?x4x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4x5x5xf32>) -> tensor<?x4x5x5xf32>
  %y = linalg.generic {indexing_maps = [
      affine_map<(n, i, j, o, a, b, c) -> (n, i * 2 + a, j * 2 + b, c)>,
      affine_map<(n, i, j, o, a, b, c) -> (a, b, c, o)>, affine_map<(n, i, j, o, a, b, c) -> (n, i, j, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x9x11x3xf32>, tensor<3x2x3x5xf32>) outs(%f : tensor<?x4x5x5xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x4x5x5xf32>
  %e2 = tensor.empty(%n) : tensor<?x4x5x3xf32>
  %window = tensor.empty() : tensor<3x2xf32>
  %f2 = linalg.fill ins(%low : f32) outs(%e2 : tensor<?x4x5x3xf32>) -> tensor<?x4x5x3xf32>
  %z = linalg.generic {indexing_maps = [
      affine_map<(n, i, j, c, a, b) -> (n, i * 2 + a, j * 2 + b, c)>, affine_map<(n, i, j, c, a, b) -> (a, b)>,
      affine_map<(n, i, j, c, a, b) -> (n, i, j, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %window : tensor<?x9x11x3xf32>, tensor<3x2xf32>) outs(%f2 : tensor<?x4x5x3xf32>) {
  ^bb0(%p: f32, %u: f32, %s: f32):
    %0 = arith.maximumf %s, %p : f32
    linalg.yield %0 : f32
  } -> tensor<?x4x5x3xf32>
  kernel.return %y, %z : tensor<?x4x5x5xf32>, tensor<?x4x5x3xf32>
}""")
for n in [0, 1, 2]:
    x, w = f32(n, 9, 11, 3), f32(3, 2, 3, 5)
    view = np.stack([[x[:, a : a + 7 : 2, b : b + 9 : 2] for b in range(2)] for a in range(3)])
    conv = np.einsum("abnijc,abco->nijo", view.reshape(3, 2, n, 4, 5, 3), w)
    cases.check("windows", [n], [x, w], [conv, view.reshape(6, n, 4, 5, 3).max(0)], rtol=1e-5, atol=1e-4)

# four dimensions: rows of a batch, scaled and shifted by parts of the batch
cases.kernel("""
kernel.func @batch_rows(%n: index, %s: index,
    %x: tensor<?x3x?x?xf32> {kernel.shape = affine_map<()[s0, s1] -> (s0, 3, s1, s1)>},
    %m: tensor<?x?xf32> {kernel.shape = affine_map<()[s0, s1] -> (s1, s1)>})
    -> (tensor<?x3x?x?xf32> {kernel.shape = affine_map<()[s0, s1] -> (s0, 3, s1, s1)>}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %s, %s) : tensor<?x3x?x?xf32>
  %er = tensor.empty(%n, %s) : tensor<?x3x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (c, d)>,
      affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %m : tensor<?x3x?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x3x?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %0 = arith.addf %u, %v : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x3x?x?xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p : tensor<?x3x?x?xf32>) outs(%f : tensor<?x3x?xf32>) {
  ^bb0(%u: f32, %o: f32):
    %0 = arith.addf %o, %u : f32
    linalg.yield %0 : f32
  } -> tensor<?x3x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c)>,
      affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p, %t : tensor<?x3x?x?xf32>, tensor<?x3x?xf32>) outs(%e : tensor<?x3x?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %0 = arith.divf %u, %v : f32
    linalg.yield %0 : f32
  } -> tensor<?x3x?x?xf32>
  kernel.return %y : tensor<?x3x?x?xf32>
}""")
for n, s in [(0, 4), (2, 1), (2, 19), (1, 64)]:
    x, m = f32(n, 3, s, s), f32(s, s)
    e = np.exp(x + m)
    cases.check("batch_rows", [n, s], [x, m], [e / e.sum(-1, keepdims=True)], rtol=1e-5)

cases.run()
