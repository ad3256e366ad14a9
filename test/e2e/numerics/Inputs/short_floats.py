"""short_floats.py FOLDER: conversions of all f16 and bf16, and of f32 and f64 near the midpoints at which they round,
with code for all targets, in vectors and in their tails, at -O3 and -O0."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from targets import TARGETS, load

OTHERS = ["x86-64-v2", "x86-64-v3"]
GRAPH = """graph shorts

entry f16_to_f32(x: f16[n]) -> (y: f32[n]) { return f32(x) }
entry bf16_to_f32(x: bf16[n]) -> (y: f32[n]) { return f32(x) }
entry f16_to_f64(x: f16[n]) -> (y: f64[n]) { return f64(x) }
entry bf16_to_f64(x: bf16[n]) -> (y: f64[n]) { return f64(x) }
entry f32_to_f16(x: f32[n]) -> (y: f16[n]) { return f16(x) }
entry f32_to_bf16(x: f32[n]) -> (y: bf16[n]) { return bf16(x) }
entry f64_to_f16(x: f64[n]) -> (y: f16[n]) { return f16(x) }
entry f64_to_bf16(x: f64[n]) -> (y: bf16[n]) { return bf16(x) }
entry i32_to_f16(x: i32[n]) -> (y: f16[n]) { return f16(x) }
entry i64_to_bf16(x: i64[n]) -> (y: bf16[n]) { return bf16(x) }
entry f16_to_bf16(x: f16[n]) -> (y: bf16[n]) { return bf16(x) }
entry bf16_to_f16(x: bf16[n]) -> (y: f16[n]) { return f16(x) }
"""
ALL = np.arange(1 << 16, dtype=np.uint16)


def read_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def write_bf16(numbers):
    """The number with fewer digits that is nearest, with an even last digit in the middle: by comparison."""
    wide = numbers.astype(np.float32).astype(np.float64)
    down = numbers.astype(np.float32).view(np.uint32) >> 16
    low = read_bf16(down.astype(np.uint16)).astype(np.float64)
    high = read_bf16((down + 1).astype(np.uint16)).astype(np.float64)
    # The successor of the largest number counts as the next power of two.
    high = np.where(np.isinf(high), np.copysign(2.0**128, low), high)
    below, above = np.abs(wide - low), np.abs(high - wide)
    up = (above < below) | ((above == below) & (down & 1 == 1))
    result = np.where(up & np.isfinite(wide), down + 1, down).astype(np.uint16)
    return np.where(np.isnan(wide), np.uint16(0x7FC0), result)


def around(numbers):
    """Returns f32 numbers at and next to given ones, and at and next to the midpoints between these."""
    bits = numbers.astype(np.float32).view(np.uint32).astype(np.int64)
    tails = np.array([-1, 0, 1, 0xFFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001])
    return ((bits[:, None] + tails) & 0xFFFFFFFF).astype(np.uint32).view(np.float32).ravel()


def operands():
    f16, bf16 = ALL.view(np.float16), read_bf16(ALL)
    # Denormals of f16 have fewer digits, so the midpoints between them are different.
    middles = (np.arange(-2048, 2048) + 0.5) * 2.0**-25
    random = np.random.default_rng(0).integers(0, 1 << 32, 1 << 16, np.uint32).view(np.float32)
    f32 = np.concatenate([around(f16), around(bf16), around(middles), random])
    integers = np.concatenate([np.arange(-70000, 70000), 2 ** np.arange(16, 31), 3 * 2 ** np.arange(16, 30) + 1])
    return {"f16": f16, "bf16": ALL, "f32": f32, "f64": f32.astype(np.float64),
            "i32": integers.astype(np.int32), "i64": integers.astype(np.int64)}


def convert(source, target, x):
    """Converts through f32."""
    number = (read_bf16(x) if source == "bf16" else x).astype(np.float32)
    if target == "bf16":
        return write_bf16(number)
    return number.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[target])


def as_numbers(dtype, values):
    return read_bf16(values) if dtype == "bf16" else values


def differing(source, target, x, got):
    """Where a result is neither the number expected, of the same sign, nor a zero in place of a denormal."""
    expected = as_numbers(target, convert(source, target, x)).astype(np.float64)
    numbers = as_numbers(target, got).astype(np.float64)
    same = (numbers == expected) & (np.signbit(numbers) == np.signbit(expected))
    operand = np.abs(as_numbers(source, x).astype(np.float64))
    flushed = (numbers == 0) & (operand < 2.0**-126)
    return np.flatnonzero(~(same | flushed | (np.isnan(numbers) & np.isnan(expected))))


def main(folder):
    os.makedirs(folder, exist_ok=True)
    graph, wrong, fed = os.path.join(folder, "shorts.graph"), 0, operands()
    with open(graph, "w", encoding="utf-8") as file:
        file.write(GRAPH)
    for cpu in TARGETS + OTHERS:
        for level in "-O3", "-O0":
            model = load(cpu, graph, os.path.join(folder, f"shorts.{cpu}{level}.so"), level)
            for entry in model.entries:
                source, target = entry.split("_to_")
                x = fed[source]
                # The second call has other operands in the lanes, and single elements after the last vector.
                for rows in x, np.ascontiguousarray(x[-1001:]):
                    with np.errstate(all="ignore"):
                        off = differing(source, target, rows, model.call_raw(entry, [rows], 1)[0])
                    if off.size:
                        wrong += 1
                        print(f"{cpu} {level} {entry}: {off.size} of {rows.size}, first for {rows[off[0]]!r}")
    print(f"{len(TARGETS + OTHERS)} targets, {wrong} conversions wrong")
    return wrong > 0


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        sys.exit(main(sys.argv[1]))
