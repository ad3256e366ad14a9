"""bombs.py DIR: writes small graphs that expand to huge ones, or whose sizes do."""

import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
LEVELS = range(1, 41)
SIZES = range(20)
signature = "(x: f32[..s]) -> f32[..s]"
entry = "entry e(x: f32[2]) -> (y: f32[2]) { return %s }"


def write(name, *lines):
    (folder / f"{name}.graph").write_text("\n".join(lines) + "\n")


def parts(members):
    first = f"part p0() {{ {members}\nfn call{signature} {{ return x + 1 }}\n}}"
    return [first] + [f"part p{i}() {{ let a = p{i - 1}(), b = p{i - 1}()\nfn call{signature} {{ return a(b(x)) }}\n}}"
                      for i in LEVELS]


functions = [f"fn q0{signature} {{ return x + 1 }}"] + [f"fn q{i}{signature} {{ return q{i - 1}(q{i - 1}(x)) }}"
                                                        for i in LEVELS]
variable = "var w: f32[1000, 1000] = zeros()"
write("functions", *functions, entry % "q40(x)")
write("parts", *parts(""), "let net = p40()", entry % "net(x)")
write("variables", *parts(variable), "let net = p40()", entry % "x")
write("lists", f"part p0() {{ {variable} }}", *(f"part p{i}() {{ let a = [p{i - 1}() for i in 0..100] }}" for i in range(1, 5)),
      "let net = p4()", entry % "x")
write("uncalled-functions", *functions, entry % "x")
write("uncalled-parts", *parts(""), entry % "x")

params = ", ".join(f"x{i}: f32[a{i} + 1]" for i in SIZES)
products = [f"z = reshape(broadcast(z, shape: [a{i} + 1, shape(z)[0]]), [(a{i} + 1) * shape(z)[0]])" for i in SIZES]
write("sizes", f"entry e({params}) -> f32[_] {{", "z = x0", *products, "return z", "}")
axes = ", ".join(f"a{i} + 1" for i in range(11))
write("elements", f"entry e({params}) -> f32[_] {{", f"y = broadcast(1.0, shape: [{axes}])", "return reshape(y, [-1])", "}")
tiles = [f"z = reshape(tile(z, [a{i} + a{i + 1} + 2]), [-1])" for i in SIZES[:-1]]
every = ", ".join(f"x{i}" for i in SIZES)
write("tiles", f"entry e({params}) -> f32[_] {{", f"z = concat([{every}], axis: 0)", *tiles, "return z", "}")
