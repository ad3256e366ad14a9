"""Compiles each intrinsic that Selectable.cpp lists, for each of its types: selectable.py SOURCE LLC.

LLVM's code generator ends the process where it cannot select something, so each is tried by itself if all at once fail.
"""

import re
import subprocess
import sys

FLOATS = {"kHalf": ["half"], "kSingle": ["float"], "kDouble": ["double"], "kFloats": ["half", "float", "double"]}
INTEGERS = ["i8", "i16", "i32", "i64"]
BINARY = {"copysign", "minnum", "maxnum", "minimum", "maximum", "minimumnum", "maximumnum", "smin", "smax", "umin", "umax", "uadd_sat", "usub_sat",
          "sadd_sat", "ssub_sat"}
TERNARY = {"fma", "fmuladd", "fshl", "fshr"}
FLAGGED = {"ctlz", "cttz", "abs"}  # with a constant flag
OVERFLOW = {"sadd_with_overflow", "uadd_with_overflow", "ssub_with_overflow", "usub_with_overflow",
            "umul_with_overflow"}
NO_VALUES = {"assume", "lifetime_start", "lifetime_end", "experimental_noalias_scope_decl", "memcpy", "memmove",
             "memset"}
WIDTHS = {"half": "f16", "float": "f32", "double": "f64"}


def suffix(kind):
    return WIDTHS.get(kind, kind)


def function(number, result, name, types, arguments, extra=""):
    """A kernel that loads the arguments, calls the intrinsic and stores its result."""
    lines = [f"declare {result} @{name}({', '.join(types)})"]
    lines.append(f"define ptx_kernel void @k{number}(ptr %p, ptr %q) {{")
    values = []
    for i, kind in enumerate(arguments):
        lines.append(f"  %a{i} = load volatile {kind}, ptr %p")
        values.append(f"{kind} %a{i}")
    if extra:
        values.append(extra)
    lines.append(f"  %r = call {result} @{name}({', '.join(values)})")
    lines.append(f"  store {result} %r, ptr %q")
    return "\n".join(lines + ["  ret void", "}", ""])


def cases(source):
    number = 0
    for name, types in re.findall(r"\{llvm::Intrinsic::(\w+), ([\w |]+)\}", source):
        kinds = [part.strip() for part in types.split("|")]
        if name in NO_VALUES:
            continue
        floats = [kind for part in kinds if part != "kIntegers" for kind in FLOATS[part]]
        dotted = "llvm." + name.replace("_with_overflow", ".with.overflow").replace("_sat", ".sat").replace("_", ".")
        if "fpto" in name:
            for kind in floats:
                for integer in INTEGERS:
                    number += 1
                    full = f"{dotted}.{integer}.{suffix(kind)}"
                    yield full, function(number, integer, full, [kind], [kind])
            continue
        for kind in floats + (INTEGERS if "kIntegers" in kinds else []):
            if name == "bswap" and kind == "i8":
                continue
            number += 1
            full = f"{dotted}.{suffix(kind)}"
            if name == "is_fpclass":
                yield full, function(number, "i1", full, [kind, "i32"], [kind], "i32 3")
            elif name == "ldexp":
                full += ".i32"
                yield full, function(number, kind, full, [kind, "i32"], [kind, "i32"])
            elif name in FLAGGED:
                yield full, function(number, kind, full, [kind, "i1"], [kind], "i1 false")
            elif name in OVERFLOW:
                yield full, function(number, f"{{ {kind}, i1 }}", full, [kind, kind], [kind, kind])
            elif name in {"scmp", "ucmp"}:
                full = f"{dotted}.i8.{kind}"
                yield full, function(number, "i8", full, [kind, kind], [kind, kind])
            else:
                count = 3 if name in TERNARY else 2 if name in BINARY else 1
                yield full, function(number, kind, full, [kind] * count, [kind] * count)


HEADER = 'target triple = "nvptx64-nvidia-cuda"\n'


def compiles(llc, text):
    run = subprocess.run([llc, "-mcpu=sm_80", "-mattr=+ptx70", "-o", "/dev/null"], input=HEADER + text, text=True,
                         capture_output=True)
    return run.returncode == 0, run.stderr


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        found = list(cases(file.read()))
    isGood, _ = compiles(sys.argv[2], "".join(text for _, text in found))
    wrong = 0
    for name, text in [] if isGood else found:
        isGood, error = compiles(sys.argv[2], text)
        if not isGood:
            wrong += 1
            print(f"{name}: {next((line for line in error.splitlines() if 'LLVM ERROR' in line or 'error:' in line), error[:200])}")
    print(f"{len(found)} intrinsics, {wrong} that the code generator lacks")
    return 1 if wrong else 0


sys.exit(main())
