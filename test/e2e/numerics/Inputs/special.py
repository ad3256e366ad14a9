"""special.py WHAT FOLDER NUMERICS.md: checks that special values have the same results wherever an operation is computed.

WHAT is `floats`, `integers` or `casts`.

Every operation of the tables is applied to special values of each of its dtypes: by compiled code at
-O3 and -O0, in vectors and in the scalars after the last vector; by the folding of constants; by the oracle. The
results are the same bits where an operation is exact, else as near as the table of NUMERICS.md says.
Signs and payloads of NaN are not compared. A denormal number counts as a zero of its sign.
"""

import itertools
import os
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from documented import read_accuracy
from targets import by_target, load, targets_of

NUMPY = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i8": np.int8,
    "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "bool": np.bool_,
}
MLIR = {"u8": "ui8", "bool": "i1"}
FLOATS, INTEGERS = ["f64", "f32", "f16", "bf16"], ["i8", "i16", "i32", "i64", "u8"]
LIMITS = {  # largest, smallest normal
    "f64": (float.fromhex("0x1.fffffffffffffp1023"), 2.0**-1022),
    "f32": (float.fromhex("0x1.fffffep127"), 2.0**-126),
    "f16": (65504.0, 2.0**-14),
    "bf16": (float.fromhex("0x1.fep127"), 2.0**-126),
}
PRECISION = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}

NUMERIC = "neg square abs sign relu".split()
EXACT = "floor ceil round trunc sqrt reciprocal".split()
FUNCTIONS = (
    "exp exp2 expm1 log log2 log1p rsqrt tanh sin cos tan asin acos atan sinh cosh asinh acosh atanh "
    "erf erfc sigmoid silu softplus softsign leaky_relu gelu elu selu".split()
)
PREDICATES = "is_nan is_inf is_finite".split()
ARITHMETIC = "add sub mul maximum minimum".split()
COMPARISONS = "equal not_equal less less_equal greater greater_equal".split()
BITS = "bitwise_and bitwise_or bitwise_xor shift_left shift_right".split()
EITHER_ZERO = "maximum minimum clamp relu elu selu".split()


def float_values(dtype):
    most, least = LIMITS[dtype]
    values = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 100.0, 1000.0, most, least, np.inf]
    values += [2.0**31, 2.0**63, 127.5, 255.5, 32767.5, 65520.0, 1e-5, 0.3, 88.8, 710.0]
    values += [least / 2, float(np.nextafter(np.float32(0.5), np.float32(0)))]
    values += [1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-8 + 2.0**-40]  # round twice by way of f32
    return [sign * v for v in values for sign in (1, -1)] + [np.nan]


def pair_values(dtype):
    most, least = LIMITS[dtype]
    values = [0.0, 0.5, 1.0, 2.0, 3.0, 2.5, most, least, np.inf, 1e-3]
    return [sign * v for v in values for sign in (1, -1)] + [np.nan]


def integer_values(dtype):
    info = np.iinfo(NUMPY[dtype])
    values = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, 100, info.min, info.min + 1, info.max, info.max - 1]
    values += [2**24 + 2**16 + 1]  # rounds twice by way of f32
    values += [-v for v in values]
    return sorted({v for v in values if info.min <= v <= info.max})


def to_bf16(values):
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(np.asarray(values, np.float32)), np.uint16(0x7FC0), rounded)


def array(dtype, values):
    with np.errstate(all="ignore"):
        if dtype == "bf16":
            return to_bf16(values)
        if dtype in FLOATS:
            return np.array(values, np.float64).astype(NUMPY[dtype])
        return np.array(values).astype(NUMPY[dtype])


def numbers(dtype, stored):
    """Elements as numbers that Python computes with."""
    if dtype == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return stored.astype(np.float64) if dtype in FLOATS else stored


class Case:
    """One operation for one dtype, with its operands, one array each."""

    def __init__(self, name, dtype, operands, result=None, attributes="", ulps=0.0):
        self.name, self.dtype, self.operands = name, dtype, operands
        self.result, self.attributes, self.ulps = result or dtype, attributes, ulps
        label = "" if result in (None, "bool") else "_" + result
        self.entry = f"{name}_{dtype}{label}"

    def text(self, values, kinds):
        attributes = f" {{{self.attributes}}}" if self.attributes else ""
        return f"dfg.{self.name} {', '.join(values)}{attributes} : {', '.join(kinds)}"


def element(dtype):
    return MLIR.get(dtype, dtype)


def pairs(dtype, values):
    both = list(itertools.product(values, values))
    return [array(dtype, [p[i] for p in both]) for i in range(2)]


def triples(dtype, values):
    every = list(itertools.product(values, repeat=3))
    return [array(dtype, [t[i] for t in every]) for i in range(3)]


def float_cases(dtype, accuracy):
    one, two = [array(dtype, float_values(dtype))], pairs(dtype, pair_values(dtype))
    column = "f64" if dtype == "f64" else "f32"
    for name in NUMERIC + EXACT:
        yield Case(name, dtype, one)
    for name in FUNCTIONS:
        yield Case(name, dtype, one, ulps=accuracy[name][column])
    for name in PREDICATES:
        yield Case(name, dtype, one, result="bool")
    for name in ARITHMETIC + ["div", "mod", "floordiv"]:
        yield Case(name, dtype, two)
    for name in ["pow", "atan2"]:
        yield Case(name, dtype, two, ulps=accuracy[name][column])
    for name in COMPARISONS:
        yield Case(name, dtype, two, result="bool")
    yield Case("clamp", dtype, triples(dtype, [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]))


def integer_cases(dtype):
    values = integer_values(dtype)
    one, two = [array(dtype, values)], pairs(dtype, values)
    nonzero = [v[two[1] != 0] for v in two]
    for name in NUMERIC + ["bitwise_not"]:
        yield Case(name, dtype, one)
    for name in ARITHMETIC + BITS:
        yield Case(name, dtype, two)
    for name in ["mod", "floordiv"]:
        yield Case(name, dtype, nonzero)
    for name in COMPARISONS:
        yield Case(name, dtype, two, result="bool")
    yield Case("clamp", dtype, triples(dtype, [v for v in values if abs(v) < 3 or abs(v) > 100]))


def cast_cases():
    for source in FLOATS + INTEGERS + ["bool"]:
        if source in FLOATS:
            values = float_values(source)
        else:
            values = integer_values(source) if source != "bool" else [False, True]
        operands = [array(source, values)]
        for target in FLOATS + INTEGERS + ["bool"]:
            if target != source:
                case = Case("cast", source, operands, target, f"dtype = {element(target)}")
                case.entry = f"cast_{source}_{target}"
                yield case


def all_cases(what, accuracy):
    if what == "floats":
        for dtype in FLOATS:
            yield from float_cases(dtype, accuracy)
    if what == "integers":
        for dtype in INTEGERS:
            yield from integer_cases(dtype)
        for name in ["logical_and", "logical_or", "logical_xor", "equal"]:
            yield Case(name, "bool", pairs("bool", [False, True]), "bool")
    if what == "casts":
        yield from cast_cases()


# ---- compiled code and the oracle


def kind(dtype):
    return f"tensor<?x{element(dtype)}, #dfg.dims<n>>"


def entry_text(name, cases):
    """An entry of tensors of n elements, with a result for each case; all take the same operands."""
    names = [f"%x{i}" for i in range(len(cases[0].operands))]
    dtype = cases[0].dtype
    takes = ", ".join(f'{n}: {kind(dtype)} {{dfg.name = "{n[1:]}"}}' for n in names)
    gives = ", ".join(f'{kind(c.result)} {{dfg.name = "{c.entry}"}}' for c in cases)
    text = f'  dfg.entry @{name}({takes}) -> ({gives}) attributes {{symbols = ["n"]}} {{\n'
    for i, case in enumerate(cases):
        text += f"    %y{i} = {case.text(names, [kind(dtype)] * len(names))}\n"
    values = ", ".join(f"%y{i}" for i in range(len(cases)))
    return text + f"    dfg.return {values} : {', '.join(kind(c.result) for c in cases)}\n  }}\n"


def fed_module(cases):
    """An entry for each case."""
    return "module @special {\n" + "".join(entry_text(c.entry, [c]) for c in cases) + "}\n"


def compile_cases(cases, folder, option):
    """A model for each target that a case draws."""
    models = {}
    for target, chosen in by_target(cases, lambda case: case.entry):
        base = os.path.join(folder, f"fed{option}.{target}")
        with open(base + ".mlir", "w", encoding="utf-8") as file:
            file.write(fed_module([case for _, case in chosen]))
        models[target] = load(target, base + ".mlir", base + ".so", option)
    return models


def call_compiled(model, case):
    """Each value in several lanes, and after the last vector; all must agree."""
    count = len(case.operands[0])
    results = []
    for shift in 0, 5:
        fed = [np.ascontiguousarray(np.roll(np.tile(x, 2), shift)) for x in case.operands]
        got = np.roll(model.call_raw(case.entry, fed, 1)[0], -shift)
        results += [got[:count], got[count:]]
    single = [model.call_raw(case.entry, [x[i : i + 1].copy() for x in case.operands], 1)[0]
              for i in range(min(count, 20))]
    return results + [np.concatenate([*single, results[0][20:]])]


def call_oracle(cases, folder):
    """The results of all cases; those that take the same operands are one entry."""
    groups = {}
    for case in cases:
        groups.setdefault(tuple(id(x) for x in case.operands), []).append(case)
    source = os.path.join(folder, "oracle.mlir")
    with open(source, "w", encoding="utf-8") as file:
        entries = [entry_text(f"group{i}", group) for i, group in enumerate(groups.values())]
        file.write("module @oracle {\n" + "".join(entries) + "}\n")
    results = {}
    for i, group in enumerate(groups.values()):
        out = os.path.join(folder, f"oracle{i}")
        os.makedirs(out, exist_ok=True)
        command = ["tfc", "run", source, "--reference", "--entry", f"group{i}", "--fetch-dir", out]
        for k, operand in enumerate(group[0].operands):
            path = os.path.join(out, f"x{k}.npy")
            np.save(path, operand)
            command += ["--feed", f"x{k}={path}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for case in group:
            results[case.entry] = np.load(os.path.join(out, case.entry + ".npy"))
    return [results[case.entry] for case in cases]


# ---- folding


def literal(dtype, value):
    if dtype == "bool":
        return str(bool(value)).lower()
    if dtype not in FLOATS:
        return str(int(value))
    width = {"f64": 16, "f32": 8, "f16": 4, "bf16": 4}[dtype]
    bits = np.array([value]).view({16: np.uint64, 8: np.uint32, 4: np.uint16}[width])[0]
    return f"0x{int(bits):0{width}X}"


def folded_elements(case):
    """The operands to fold: few enough that parsing text does not take most of the time."""
    count = len(case.operands[0])
    return sorted({i * 7919 % count for i in range(min(count, 120))})


def folded_module(cases):
    text = "module @folded {\n"
    for case in cases:
        kind, result = f"tensor<{element(case.dtype)}>", f"tensor<{element(case.result)}>"
        chosen = folded_elements(case)
        results = ", ".join([result] * len(chosen))
        text += f"  dfg.entry @{case.entry}() -> ({results}) {{\n"
        for i in chosen:
            names = [f"%c{i}_{k}" for k in range(len(case.operands))]
            for name, operand in zip(names, case.operands):
                text += f"    {name} = dfg.constant dense<{literal(case.dtype, operand[i])}> : {kind}\n"
            text += f"    %y{i} = {case.text(names, [kind] * len(names))}\n"
        values = ", ".join(f"%y{i}" for i in chosen)
        text += f"    dfg.return {values} : {results}\n  }}\n"
    return text + "}\n"


def parse_literal(dtype, text):
    if dtype not in FLOATS:
        return NUMPY[dtype](text == "true" if dtype == "bool" else int(text))
    if text.startswith("0x"):
        kind = {"f64": np.uint64, "f32": np.uint32, "f16": np.uint16, "bf16": np.uint16}[dtype]
        bits = np.array([int(text, 16)], kind)
        return bits.view(NUMPY[dtype])[0]
    return array(dtype, [float(text)])[0]


def call_folder(cases, folder):
    """The values of each case after the simplify stage, or None where nothing folded."""
    source = os.path.join(folder, "folded.mlir")
    with open(source, "w", encoding="utf-8") as file:
        file.write(folded_module(cases))
    command = ["tfc", "compile", source, "--stop-after=simplify"]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    results = {}
    for entry, body in re.findall(r"dfg\.entry @(\w+)\((?:.*?)\{\n(.*?)\n  \}", text, re.S):
        constants = dict(re.findall(r"(%\S+) = dfg\.constant dense<(.*?)>", body))
        returned = re.search(r"dfg\.return (.*?) :", body).group(1).split(", ")
        results[entry] = [constants.get(name) for name in returned]
    for case in cases:
        values = [None] * len(case.operands[0])
        for i, text in zip(folded_elements(case), results[case.entry]):
            values[i] = text and parse_literal(case.result, text)
        yield values


# ---- comparison


def flushed(dtype, values):
    """Denormals as zeros of their sign; those of f16 stay."""
    if dtype not in FLOATS or dtype == "f16":
        return values
    return np.where(np.abs(values) < LIMITS[dtype][1], np.copysign(0.0, values), values)


def differs(case, got, expected, ulps):
    """The results that differ by more than `ulps`, or in the sign of a zero."""
    got, expected = (flushed(case.result, numbers(case.result, v)) for v in (got, expected))
    if case.result not in FLOATS:
        return got != expected
    with np.errstate(all="ignore"):
        most, least = LIMITS[case.result]
        size = np.maximum(np.maximum(np.abs(got), np.abs(expected)), least)
        if case.name == "gelu":
            size = np.maximum(size, np.abs(numbers(case.dtype, case.operands[0])))
        unit = np.ldexp(1.0, np.frexp(np.where(np.isfinite(size), size, 1))[1] - PRECISION[case.result])
        near = np.abs(got - expected) <= ulps * unit
        if case.name in EITHER_ZERO:
            near |= got == expected
        if ulps:  # what overflows or vanishes by a last bit
            near |= np.isinf(got) & (np.abs(expected) > most * (1 - 2**-6)) & (got * expected > 0)
            near |= np.isinf(expected) & (np.abs(got) > most * (1 - 2**-6)) & (got * expected > 0)
            vanishing = 2048 * least if case.name == "silu" else 2 * least
            near |= (np.abs(got) < vanishing) & (np.abs(expected) < vanishing)
        same = (got == expected) & (np.signbit(got) == np.signbit(expected))
        same |= np.isnan(got) & np.isnan(expected)
        zeros = (got == 0) & (expected == 0) & (case.name not in EITHER_ZERO)
    return ~(same | near & ~zeros)


def has_denormals(case):
    """The cases in which the oracle may not have the zeros of compiled code."""
    if case.dtype not in FLOATS or case.dtype == "f16":
        return np.zeros(len(case.operands[0]), bool)
    least = LIMITS[case.dtype][1]
    values = [np.abs(numbers(case.dtype, x)) for x in case.operands]
    return np.any([(v < least) & (v != 0) for v in values], axis=0)


class Report:
    def __init__(self):
        self.wrong = 0

    def compare(self, case, way, got, expected, ulps, without=None):
        bad = differs(case, got, expected, ulps)
        if without is not None:
            bad &= ~without
        for i in np.flatnonzero(bad)[:3]:
            operands = ", ".join(str(numbers(case.dtype, x)[i]) for x in case.operands)
            values = [numbers(case.result, v)[i] for v in (got, expected)]
            print(f"{case.entry}({operands}): {way} gives {values[0]}, -O3 gives {values[1]}")
        self.wrong += int(bad.any())


def compare_case(report, case, models, oracle, folded):
    """Results of one target's code at two levels, of the oracle, and of constant folding."""
    lanes, plain = (call_compiled(model, case) for model in models)
    twice = 2 * case.ulps
    for got in lanes[1:]:
        report.compare(case, "another lane", got, lanes[0], 0)
    # LLVM may test the bits of a bf16 where others test the number.
    unclear = has_denormals(case) if case.dtype == "bf16" else None
    for got in plain:
        report.compare(case, "-O0", got, lanes[0], twice, unclear)
    report.compare(case, "the oracle", oracle, lanes[0], case.ulps and case.ulps + 0.5,
                   has_denormals(case))
    known = np.array([v is not None for v in folded])
    values = np.where(known, [v if k else e for v, k, e in zip(folded, known, lanes[0])], lanes[0])
    report.compare(case, "folding", values.astype(lanes[0].dtype), lanes[0], twice, unclear)


def main():
    what, folder, page = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    cases = list(all_cases(what, read_accuracy(page)))
    models = {option: compile_cases(cases, folder, option) for option in ("-O3", "-O0")}
    report, folds = Report(), 0
    for case, oracle, folded in zip(cases, call_oracle(cases, folder), call_folder(cases, folder)):
        folds += sum(value is not None for value in folded)
        for target in targets_of(case.entry):
            compare_case(report, case, [models[o][target] for o in models], oracle, folded)
    print(f"{len(cases)} operations, {folds} folded, {report.wrong} comparisons wrong")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
