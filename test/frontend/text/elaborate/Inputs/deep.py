"""deep.py DIR: writes graphs that nest deeply, though none of their expressions do."""

import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
entry = "entry e(x: f32) -> (y: f32) { return %s }\n"


def write(name, lines):
    (folder / f"{name}.graph").write_text("\n".join(lines) + "\n")


write("lets", ["let a0 = 1"] + [f"let a{i} = a{i - 1} + 1" for i in range(1, 20000)] + [entry % "x * a19999"])
write("members", ["part p() {", "let a0 = 1"] + [f"let a{i} = a{i - 1} + 1" for i in range(1, 5000)]
      + ["fn call(x: f32) -> f32 { return x * a4999 }", "}", "let net = p()", entry % "net(x)"])
write("calls", ["fn a0(x: f32) -> f32 { return x }"]
      + [f"fn a{i}(x: f32) -> f32 {{ return {'-' * 240}(1.0 + a{i - 1}(x)) }}" for i in range(1, 199)]
      + [entry % "a198(x)"])
write("groups", ["entry e(x: f32) -> (y: f32) {", "g = [1]", "static for i in 0..100000 { g = [g] }", "return x * g[0] }"])
write("blocks", ["fn a0(x: f32) -> f32 { return x }"]
      + [f"fn a{i}(x: f32) -> f32 {{\n" + "".join(f"y{j} = if x > 0.0 {{\n" for j in range(20))
         + f"yield a{i - 1}(x)\n" + "".join(f"}} else {{ yield x }}\n{'yield' if j else 'return'} y{j}\n"
                                             for j in reversed(range(20)))
         + "}" for i in range(1, 100)] + [entry % "a99(x)"])
write("parts", ["part a0() {\nvar w: f32 = 0.0\n}"]
      + [f"part a{i}() {{\nlet a = a{i - 1}()\n}}" for i in range(1, 50000)]
      + ["let net = a49999()", entry % "x"])
write("ranks", ["entry e(x: f32[1, 1]) -> (y: f32) {",
                "static for i in 0..30 { x = zeros(f32[..shape(x), ..shape(x)]) }", "return sum(x)", "}"])
