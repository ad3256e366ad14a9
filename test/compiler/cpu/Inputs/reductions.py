"""Reductions, row kernels, contractions without an emitter of their own, scans and scatters."""

import numpy as np
from kernels import Cases

rng = np.random.default_rng(2)
cases = Cases()


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


# sums, maxima and products over each set of axes of [n, 5, m]
axes_maps = {
    (0,): ("d1, d2", '"reduction", "parallel", "parallel"', "5, s1"),
    (1,): ("d0, d2", '"parallel", "reduction", "parallel"', "s0, s1"),
    (2,): ("d0, d1", '"parallel", "parallel", "reduction"', "s0, 5"),
    (0, 2): ("d1", '"reduction", "parallel", "reduction"', "5"),
    (1, 2): ("d0", '"parallel", "reduction", "reduction"', "s0"),
    (0, 1, 2): ("", '"reduction", "reduction", "reduction"', ""),
}
kinds = {
    "sum": ("arith.addf", "0.0", "f32"),
    "max": ("arith.maximumf", "0xFF800000", "f32"),
    "isum": ("arith.addi", "0", "i32"),
    "dsum": ("arith.addf", "0.0", "f64"),
    "any": ("arith.ori", "false", "i1"),
}
for axes, (result, loops, shape) in axes_maps.items():
    name = "_".join(map(str, axes))
    dims = [d.strip() for d in shape.split(",") if d.strip()]
    sizes = ["?" if d[0] == "s" else d for d in dims]
    dynamic = ", ".join({"s0": "%n", "s1": "%m"}[d] for d in dims if d[0] == "s")
    for kind, (op, init, t) in kinds.items():
        out = f"tensor<{''.join(s + 'x' for s in sizes)}{t}>"
        cases.kernel(f"""
kernel.func @{kind}_{name}(%n: index, %m: index,
    %x: tensor<?x5x?x{t}> {{kernel.shape = affine_map<()[s0, s1] -> (s0, 5, s1)>}})
    -> ({out} {{kernel.shape = affine_map<()[s0, s1] -> ({shape})>}}) {{
  %c = arith.constant {init}{'' if t == 'i1' else ' : ' + t}
  %e = tensor.empty({dynamic}) : {out}
  %f = linalg.fill ins(%c : {t}) outs(%e : {out}) -> {out}
  %y = linalg.generic {{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>,
      affine_map<(d0, d1, d2) -> ({result})>], iterator_types = [{loops}]}}
      ins(%x : tensor<?x5x?x{t}>) outs(%f : {out}) {{
  ^bb0(%a: {t}, %o: {t}):
    %s = {op} %o, %a : {t}
    linalg.yield %s : {t}
  }} -> {out}
  kernel.return %y : {out}
}}""")
        for n, m in [(0, 4), (1, 1), (3, 16), (4, 77), (7, 130), (2, 0)]:
            x = f32(n, 5, m)
            if kind == "isum":
                x = rng.integers(-9, 9, (n, 5, m)).astype(np.int32)
                want = x.sum(axes, dtype=np.int32)
            elif kind == "dsum":
                x = rng.standard_normal((n, 5, m))
                want = x.sum(axes)
            elif kind == "any":
                x = rng.random((n, 5, m)) < 0.05
                want = x.any(axes)
            elif kind == "max":
                want = x.max(axes, initial=-np.inf)
            else:
                want = x.astype(np.float64).sum(axes).astype(np.float32)
            cases.check(f"{kind}_{name}", [n, m], [x], [np.asarray(want)], rtol=1e-5, atol=1e-4)


def generic(maps, loops, ins, outs, body, results):
    maps = ", ".join(f"affine_map<{m}>" for m in maps)
    loops = ", ".join('"parallel"' if c == "p" else '"reduction"' for c in loops)
    names, types = zip(*ins) if ins else ((), ())
    clause = f"ins({', '.join(names)} : {', '.join(types)})" if ins else ""
    onames, otypes = zip(*outs)
    return (
        f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}} {clause}"
        f" outs({', '.join(onames)} : {', '.join(otypes)}) {{\n{body}\n}} -> ({', '.join(results)})"
    )


ROW, FULL = "(d0, d1) -> (d0)", "(d0, d1) -> (d0, d1)"


def softmax(d, log=False):
    t, r = f"tensor<?x{d}xf32>", "tensor<?xf32>"
    shape = f"{{kernel.shape = affine_map<()[s0] -> (s0, {d})>}}"
    last = "arith.divf %g, %s : f32" if not log else "arith.subf %z, %l : f32"
    return f"""
kernel.func @{'log_' if log else ''}softmax_{d}(%n: index, %x: {t} {shape}) -> ({t} {shape}) {{
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %er = tensor.empty(%n) : {r}
  %e = tensor.empty(%n) : {t}
  %f0 = linalg.fill ins(%low : f32) outs(%er : {r}) -> {r}
  %f1 = linalg.fill ins(%zero : f32) outs(%er : {r}) -> {r}
  %m = {generic([FULL, ROW], "pr", [("%x", t)], [("%f0", r)], '''
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %a, %o : f32
    linalg.yield %s : f32''', [r])}
  %c = {generic([FULL, ROW, FULL], "pp", [("%x", t), ("%m", r)], [("%e", t)], '''
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32''', [t])}
  %p = {generic([FULL, FULL], "pp", [("%c", t)], [("%e", t)], '''
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32''', [t])}
  %t = {generic([FULL, ROW], "pr", [("%p", t)], [("%f1", r)], '''
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32''', [r])}
  %y = {generic([FULL, FULL, ROW, FULL], "pp", [("%p", t), ("%c", t), ("%t", r)], [("%e", t)], f'''
  ^bb0(%g: f32, %z: f32, %s: f32, %o: f32):
    %l = math.log %s : f32
    %q = {last}
    linalg.yield %q : f32''', [t])}
  kernel.return %y : {t}
}}"""


def np_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True)).astype(np.float64)
    return (e / e.sum(-1, keepdims=True)).astype(np.float32)


for d in [1, 10, 16, 100, 768]:
    cases.kernel(softmax(d))
    cases.kernel(softmax(d, log=True))
    for n in [0, 1, 5, 33]:
        x = f32(n, d) * 4
        cases.check(f"softmax_{d}", [n], [x], [np_softmax(x)], rtol=2e-6, atol=1e-7)
        cases.check(f"log_softmax_{d}", [n], [x], [np.log(np_softmax(x))], rtol=1e-5, atol=1e-5)

# cross entropy's value and gradient by labels, one kernel
t, r = "tensor<?x10xf32>", "tensor<?xf32>"
cases.kernel(f"""
kernel.func @rows(%n: index, %x: {t} {{kernel.shape = affine_map<()[s0] -> (s0, 10)>}},
    %i: tensor<?xi32> {{kernel.shape = affine_map<()[s0] -> (s0)>}})
    -> ({r} {{kernel.shape = affine_map<()[s0] -> (s0)>}}, {t} {{kernel.shape = affine_map<()[s0] -> (s0, 10)>}},
        tensor<f32>) {{
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty(%n) : {r}
  %et = tensor.empty(%n) : {t}
  %es = tensor.empty() : tensor<f32>
  %f1 = linalg.fill ins(%zero : f32) outs(%er : {r}) -> {r}
  %f2 = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %t = {generic([FULL, ROW], "pr", [("%x", t)], [("%f1", r)], '''
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32''', [r])}
  %loss = {generic(["(d0) -> (d0)", "(d0) -> (d0)", "(d0) -> (d0)"], "p",
    [("%t", r), ("%i", "tensor<?xi32>")], [("%er", r)], '''
  ^bb0(%s: f32, %k: i32, %o: f32):
    %l = math.log %s : f32
    %row = linalg.index 0 : index
    %col = arith.index_cast %k : i32 to index
    %v = tensor.extract %x[%row, %col] : tensor<?x10xf32>
    %q = arith.subf %l, %v : f32
    linalg.yield %q : f32''', [r])}
  %grad = {generic([FULL, ROW, ROW, FULL], "pp", [("%x", t), ("%t", r), ("%i", "tensor<?xi32>")],
    [("%et", t)], '''
  ^bb0(%a: f32, %s: f32, %k: i32, %o: f32):
    %e = math.exp %a : f32
    %p = arith.divf %e, %s : f32
    %c = linalg.index 1 : index
    %j = arith.index_cast %c : index to i32
    %hit = arith.cmpi eq, %j, %k : i32
    %w = arith.uitofp %hit : i1 to f32
    %q = arith.subf %p, %w : f32
    linalg.yield %q : f32''', [t])}
  %total = {generic(["(d0) -> (d0)", "(d0) -> ()"], "r", [("%loss", r)], [("%f2", "tensor<f32>")], '''
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32''', ["tensor<f32>"])}
  kernel.return %loss, %grad, %total : {r}, {t}, tensor<f32>
}}""")
for n in [0, 1, 17, 64]:
    x, label = f32(n, 10), rng.integers(0, 10, n).astype(np.int32)
    e = np.exp(x.astype(np.float64))
    loss = np.log(e.sum(1)) - x[np.arange(n), label]
    grad = e / e.sum(1, keepdims=True) - np.eye(10)[label]
    want = [loss.astype(np.float32), grad.astype(np.float32), np.float32(loss.sum()).reshape(())]
    cases.check("rows", [n], [x, label], want, rtol=1e-5, atol=2e-6)

# layer norm with its two parameters, and its column sums
t, r, c = "tensor<?x48xf32>", "tensor<?xf32>", "tensor<48xf32>"
COL = "(d0, d1) -> (d1)"
cases.kernel(f"""
kernel.func @layer_norm(%n: index, %x: {t} {{kernel.shape = affine_map<()[s0] -> (s0, 48)>}}, %g: {c}, %b: {c})
    -> ({t} {{kernel.shape = affine_map<()[s0] -> (s0, 48)>}}, {c}) {{
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty(%n) : {r}
  %et = tensor.empty(%n) : {t}
  %ec = tensor.empty() : {c}
  %f1 = linalg.fill ins(%zero : f32) outs(%er : {r}) -> {r}
  %f2 = linalg.fill ins(%zero : f32) outs(%ec : {c}) -> {c}
  %stat:2 = {generic([FULL, ROW, ROW], "pr", [("%x", t)], [("%f1", r), ("%f1", r)], '''
  ^bb0(%a: f32, %o: f32, %o2: f32):
    %s = arith.addf %o, %a : f32
    %q = arith.mulf %a, %a : f32
    %s2 = arith.addf %o2, %q : f32
    linalg.yield %s, %s2 : f32, f32''', [r, r])}
  %y = {generic([FULL, ROW, ROW, COL, COL, FULL], "pp", [("%x", t), ("%stat#0", r), ("%stat#1", r), ("%g", c),
    ("%b", c)], [("%et", t)], '''
  ^bb0(%a: f32, %u: f32, %v: f32, %gg: f32, %bb: f32, %o: f32):
    %k = arith.constant 48.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %m = arith.divf %u, %k : f32
    %m2 = arith.divf %v, %k : f32
    %mm = arith.mulf %m, %m : f32
    %var = arith.subf %m2, %mm : f32
    %ve = arith.addf %var, %eps : f32
    %is = math.rsqrt %ve : f32
    %d = arith.subf %a, %m : f32
    %0 = arith.mulf %d, %is : f32
    %1 = arith.mulf %0, %gg : f32
    %2 = arith.addf %1, %bb : f32
    linalg.yield %2 : f32''', [t])}
  %z = {generic([FULL, COL], "rp", [("%y", t)], [("%f2", c)], '''
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32''', [c])}
  kernel.return %y, %z : {t}, {c}
}}""")
for n in [0, 1, 9]:
    x, g, b = f32(n, 48), f32(48), f32(48)
    y = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * g + b
    cases.check("layer_norm", [n], [x, g, b], [y, y.sum(0)], rtol=1e-4, atol=1e-4)

# first index of the maximum, along each axis
for axis, loops, out in [(1, "pr", ROW), (0, "rp", COL)]:
    shape = "s0" if axis == 1 else "s1"
    size = "%n" if axis == 1 else "%m"
    cases.kernel(f"""
kernel.func @argmax_{axis}(%n: index, %m: index,
    %x: tensor<?x?xf32> {{kernel.shape = affine_map<()[s0, s1] -> (s0, s1)>}})
    -> (tensor<?xi64> {{kernel.shape = affine_map<()[s0, s1] -> ({shape})>}}) {{
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e0 = tensor.empty({size}) : tensor<?xf32>
  %e1 = tensor.empty({size}) : tensor<?xi64>
  %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %f1 = linalg.fill ins(%zero : i64) outs(%e1 : tensor<?xi64>) -> tensor<?xi64>
  %y:2 = {generic([FULL, out, out], loops, [("%x", "tensor<?x?xf32>")],
    [("%f0", "tensor<?xf32>"), ("%f1", "tensor<?xi64>")], f'''
  ^bb0(%a: f32, %v: f32, %k: i64):
    %i = linalg.index {axis} : index
    %j = arith.index_cast %i : index to i64
    %c = arith.cmpf ogt, %a, %v : f32
    %w = arith.select %c, %a, %v : f32
    %l = arith.select %c, %j, %k : i64
    linalg.yield %w, %l : f32, i64''', ["tensor<?xf32>", "tensor<?xi64>"])}
  kernel.return %y#1 : tensor<?xi64>
}}""")
    for n, m in [(1, 1), (5, 10), (40, 100)]:
        x = f32(n, m).round(1)
        cases.check(f"argmax_{axis}", [n, m], [x], [x.argmax(axis)])

# matrix products: f32 with bias and relu, transposed operands, i32, and batched
A, B, C = "(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)", "(m, n, k) -> (m, n)"
products = {"nn": (A, B), "nt": (A, "(m, n, k) -> (n, k)"), "tn": ("(m, n, k) -> (k, m)", B)}
for name, (ma, mb) in products.items():
    for e in ["f32", "f64", "i32"]:
        sa = "s0, s2" if name != "tn" else "s2, s0"
        sb = "s2, s1" if name != "nt" else "s1, s2"
        op = "f" if e[0] == "f" else "i"
        zero = "0.0" if op == "f" else "0"
        T = f"tensor<?x?x{e}>"
        cases.kernel(f"""
kernel.func @mm_{name}_{e}(%m: index, %n: index, %k: index,
    %a: {T} {{kernel.shape = affine_map<()[s0, s1, s2] -> ({sa})>}},
    %b: {T} {{kernel.shape = affine_map<()[s0, s1, s2] -> ({sb})>}},
    %c: tensor<?x{e}> {{kernel.shape = affine_map<()[s0, s1, s2] -> (s1)>}})
    -> ({T} {{kernel.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>}}) {{
  %zero = arith.constant {zero} : {e}
  %e = tensor.empty(%m, %n) : {T}
  %f = linalg.fill ins(%zero : {e}) outs(%e : {T}) -> {T}
  %p = {generic([ma, mb, C], "ppr", [("%a", T), ("%b", T)], [("%f", T)], f'''
  ^bb0(%x: {e}, %y: {e}, %o: {e}):
    %q = arith.mul{op} %x, %y : {e}
    %s = arith.add{op} %o, %q : {e}
    linalg.yield %s : {e}''', [T])}
  %r = {generic([FULL, COL, FULL], "pp", [("%p", T), ("%c", f"tensor<?x{e}>")], [("%e", T)], f'''
  ^bb0(%x: {e}, %y: {e}, %o: {e}):
    %q = arith.add{op} %x, %y : {e}
    linalg.yield %q : {e}''', [T])}
  kernel.return %r : {T}
}}""")
        for m, n, k in [(1, 1, 1), (3, 17, 5), (16, 64, 32), (37, 50, 0), (0, 4, 4), (65, 130, 33)]:
            a, b, c = rng.integers(-4, 5, (m, k)), rng.integers(-4, 5, (k, n)), rng.integers(-4, 5, n)
            want = (a @ b + c).astype({"f": "f4", "d": "f8", "i": "i4"}["d" if e == "f64" else e[0]])
            a = a if name != "tn" else a.T
            b = b if name != "nt" else b.T
            given = [v.astype(want.dtype) for v in (a, b, c)]
            cases.check(f"mm_{name}_{e}", [m, n, k], given, [want])

# scans: along either axis, exclusive and reversed
for axis in [0, 1]:
    for flags in ["", "exclusive", "reverse", "exclusive reverse"]:
        name = f"scan_{axis}_{flags.replace(' ', '_')}"
        T = "tensor<?x?xf32>"
        cases.kernel(f"""
kernel.func @{name}(%n: index, %m: index,
    %x: {T} {{kernel.shape = affine_map<()[s0, s1] -> (s0, s1)>}})
    -> ({T} {{kernel.shape = affine_map<()[s0, s1] -> (s0, s1)>}}) {{
  %zero = arith.constant 0.0 : f32
  %y = linalg_ext.scan %zero, %x along {axis} {flags} : f32, {T} -> {T} {{
  ^bb0(%s: f32, %a: f32):
    %r = arith.addf %s, %a : f32
    linalg_ext.yield %r : f32
  }}
  kernel.return %y : {T}
}}""")
        for n, m in [(0, 3), (1, 1), (6, 19)]:
            x = rng.integers(-9, 9, (n, m)).astype(np.float32)
            y = np.flip(x, axis) if "reverse" in flags else x
            s = np.cumsum(y, axis, dtype=np.float32)
            s = s - y if "exclusive" in flags else s
            s = np.flip(s, axis) if "reverse" in flags else s
            cases.check(name, [n, m], [x], [np.ascontiguousarray(s)])

# scatters: rows added into a copy and in place, single elements written, negative indices skipped
for inplace in [False, True]:
    attribute = "{kernel.in_place = 0 : i32}" if inplace else ""
    name = "scatter_inplace" if inplace else "scatter"
    cases.kernel(f"""
kernel.func @{name}(%n: index, %x: tensor<20x9xf32>,
    %u: tensor<?x9xf32> {{kernel.shape = affine_map<()[s0] -> (s0, 9)>}},
    %i: tensor<?xi64> {{kernel.shape = affine_map<()[s0] -> (s0)>}})
    -> (tensor<20x9xf32> {attribute}) {{
  %e = tensor.empty(%n) : tensor<?x1xi64>
  %j = {generic(["(d0, d1) -> (d0)", FULL], "pp", [("%i", "tensor<?xi64>")],
    [("%e", "tensor<?x1xi64>")], '''
  ^bb0(%a: i64, %o: i64):
    linalg.yield %a : i64''', ["tensor<?x1xi64>"])}
  %r = linalg_ext.scatter %u into %x at %j : tensor<?x9xf32>, tensor<20x9xf32>, tensor<?x1xi64> {{
  ^bb0(%old: f32, %a: f32):
    %s = arith.addf %old, %a : f32
    linalg_ext.yield %s : f32
  }}
  kernel.return %r : tensor<20x9xf32>
}}""")
    for n in [0, 1, 50]:
        x, u = f32(20, 9), rng.integers(-9, 9, (n, 9)).astype(np.float32)
        x = x.round()
        index = rng.integers(-3, 20, n)
        want = x.copy()
        for k in range(n):
            if index[k] >= 0:
                want[index[k]] += u[k]
        cases.check(name, [n], [x, u, index], [want], inplace={0: 0} if inplace else {})

cases.run()
