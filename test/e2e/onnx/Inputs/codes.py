"""Types of 8, 4 and 2 bits, which are stored as codes: the nearest number is found among all of them."""

import sys

import numpy as np
from onnx_case import Cases

cases = Cases(sys.argv[1])
random = np.random.default_rng(9)

# By name: TensorProto.DataType, bits of the exponent and of the mantissa, bias, and codes above the largest number.
FLOATS = {"e4m3fn": (17, 4, 3, 7, [np.nan]), "e4m3fnuz": (18, 4, 3, 8, []),
          "e5m2": (19, 5, 2, 15, [np.inf, np.nan, np.nan, np.nan]), "e5m2fnuz": (20, 5, 2, 16, []),
          "e2m1": (23, 2, 1, 1, [])}
INTEGERS = {"u4": (21, 0, 15), "i4": (22, -8, 7), "u2": (25, 0, 3), "i2": (26, -2, 1)}


def numbers_of(name):
    """The numbers of all codes without a sign, in order, and the code of the sign."""
    _, exponent, mantissa, bias, special = FLOATS[name]
    count = 1 << exponent + mantissa
    values = []
    for code in range(count - len(special)):
        power, rest = code >> mantissa, code & (1 << mantissa) - 1
        scale = 2.0 ** (max(power, 1) - bias - mantissa)
        values.append(scale * (rest + (1 << mantissa if power else 0)))
    return np.array(values + special), count


def value_of(name, code):
    values, sign = numbers_of(name)
    if name.endswith("uz") and code == sign:
        return np.nan
    return np.copysign(values[code % sign], -1 if code >= sign else 1)


def code_of(name, x, saturates=True):
    values, sign = numbers_of(name)
    is_unsigned_zero = name.endswith("uz")
    finite = values[np.isfinite(values)]
    invalid = {"e4m3fn": 0x7F, "e5m2": 0x7E, "e2m1": 8}.get(name, 0x80)
    if np.isnan(x):
        return invalid
    extended = np.append(finite, 2 * finite[-1] - finite[-2])  # the number that would follow
    distance = np.abs(extended - min(abs(x), 2 * finite[-1]))
    nearest = np.flatnonzero(distance == distance.min())
    code = nearest[0] if len(nearest) == 1 or nearest[0] % 2 == 0 else nearest[1]
    if code == len(finite) and not saturates and name != "e5m2":
        return invalid + (sign if np.signbit(x) and not is_unsigned_zero else 0)
    if saturates:  # in e5m2, infinity follows the largest number
        code = min(code, len(finite) - 1)
    return code + sign if np.signbit(x) and not (is_unsigned_zero and code == 0) else code


for name, (dtype, *_) in FLOATS.items():
    values, sign = numbers_of(name)
    codes = np.arange(2 * sign, dtype=np.uint8)
    expected = np.array([value_of(name, int(code)) for code in codes])
    for kind, number in (np.float32, 1), (np.float16, 10):
        with np.errstate(over="ignore"):
            cases.check(f"y = Cast x | to={number}", {"x": codes}, {"y": expected.astype(kind)}, types={"x": name}, opset=23)
    finite = values[np.isfinite(values)]
    x = np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, finite[-1:] * 1.03, finite[-1:] * 4, [0.0, np.inf, np.nan],
                        random.normal(size=40) * 2.0 ** random.integers(-12, 12, 40)])
    x = np.concatenate([x, -x]).astype(np.float32)
    x[np.isnan(x)] = np.nan
    for saturate in (1,) if name == "e2m1" else (0, 1):
        # The code of a NaN that was too large keeps its sign where the type has several.
        want = np.array([code_of(name, v, bool(saturate)) for v in x], np.uint8)
        cases.check(f"y = Cast x | to={dtype} saturate={saturate}", {"x": x}, {"y": want}, opset=23)
        cases.check(f"y = CastLike x l | saturate={saturate}", {"x": x, "l": codes[:1]}, {"y": want}, types={"l": name},
                    opset=23)
    # Moves keep the codes.
    cases.check("s = Shape x\nz = Transpose x\ny = Cast z | to=1", {"x": codes[:6].reshape(2, 3)},
                {"s": np.array([2, 3]), "y": expected[:6].reshape(2, 3).T.astype(np.float32)}, types={"x": name}, opset=23)
    scale, x = np.float32(0.5), (random.normal(size=(2, 9)) * finite[-1] / 2).astype(np.float32)
    want = np.array([code_of(name, v) for v in (x / scale).ravel()], np.uint8).reshape(x.shape)
    cases.check("y = QuantizeLinear x s z", {"x": x, "s": scale, "z": np.uint8(0)}, {"y": want}, types={"z": name}, opset=23)
    cases.check(f"y = QuantizeLinear x s | output_dtype={dtype}", {"x": x, "s": scale}, {"y": want}, opset=23)
    cases.check("y = DequantizeLinear x s", {"x": codes[:6], "s": scale}, {"y": (expected[:6] * scale).astype(np.float32)},
                types={"x": name}, opset=23)

for name, (dtype, low, high) in INTEGERS.items():
    kind = np.int8 if low else np.uint8
    x = np.arange(-20, 21)
    wrapped = ((x - low) % (high - low + 1) + low).astype(kind)
    cases.check(f"y = Cast x | to={dtype}", {"x": x.astype(np.float32)}, {"y": wrapped}, opset=25)
    cases.check(f"y = Cast x | to={dtype}", {"x": x}, {"y": wrapped}, opset=25)
    codes = np.arange(low, high + 1).astype(kind)
    cases.check("y = Cast x | to=7", {"x": codes}, {"y": codes.astype(np.int64)}, types={"x": name}, opset=25)
    x, scale, zero = (random.normal(size=(3, 8)) * 6).astype(np.float32), np.float32([0.5, 1, 2]), kind([0, 1, 1])
    want = np.clip(np.rint(x / scale[:, None]) + zero[:, None], low, high).astype(kind)
    cases.check("y = QuantizeLinear x s z | axis=0", {"x": x, "s": scale, "z": zero}, {"y": want}, types={"z": name}, opset=25)
    blocks = np.float32([[0.5, 1], [2, 0.25], [1, 1]])
    cases.check(f"y = QuantizeLinear x s | axis=1 block_size=4 output_dtype={dtype}", {"x": x, "s": blocks},
                {"y": np.clip(np.rint(x / blocks.repeat(4, 1)), low, high).astype(kind)}, opset=25)
    zeros = kind([[0, 1], [1, 0], [0, 0]])
    cases.check("y = DequantizeLinear x s z | axis=1 block_size=4", {"x": want, "s": blocks, "z": zeros},
                {"y": (want.astype(np.float32) - zeros.repeat(4, 1)) * blocks.repeat(4, 1)},
                types={"x": name, "z": name}, opset=25)

# Blocks of the last axis, the last of which is shorter.
x = random.integers(0, 256, (2, 7)).astype(np.uint8)
blocks, zeros = np.float32([[0.5, 1, 2], [2, 0.25, 1]]), np.uint8([[7, 0, 128], [3, 255, 1]])
y = (x.astype(np.float32) - zeros.repeat(3, 1)[:, :7]) * blocks.repeat(3, 1)[:, :7]
cases.check("y = DequantizeLinear x s z | axis=-1 block_size=3", {"x": x, "s": blocks, "z": zeros}, {"y": y}, opset=21)

# Powers of two.
x = np.array([0.25, 0.3, 0.375, 1, 1.4, 1.5, 1.6, 3, 100, 0, np.nan], np.float32)
for mode, codes in (("up", [125, 126, 126, 127, 128, 128, 128, 129, 134, 0, 255]),
                    ("down", [125, 125, 125, 127, 127, 127, 127, 128, 133, 0, 255]),
                    ("nearest", [125, 125, 126, 127, 127, 128, 128, 129, 134, 0, 255])):
    cases.check(f'y = Cast x | to=24 round_mode="{mode}"', {"x": x}, {"y": np.uint8(codes)}, opset=24)
codes = np.array([1, 100, 127, 130, 254, 255], np.uint8)
cases.check("y = Cast x | to=1", {"x": codes}, {"y": np.float32([2.0**-126, 2.0**-27, 1, 8, 2.0**127, np.nan])},
            types={"x": "e8m0"}, opset=24)
# Bits as another type of the same width.
x = np.array([1.5, -0.0, np.inf, 1e-40, -3e38], np.float32)
for to, dtype in (6, np.int32), (12, np.uint32):
    cases.check(f"y = BitCast x | to={to}", {"x": x}, {"y": x.view(dtype)}, opset=26)
cases.check("y = BitCast x | to=1", {"x": x.view(np.int32)}, {"y": x}, opset=26, atol=0)
cases.check("y = BitCast x | to=10", {"x": np.array([0x3C00, 0xC000, 1], np.uint16)},
            {"y": np.array([1, -2, 2.0**-24], np.float16)}, opset=26, atol=0)
cases.check("y = BitCast x | to=5", {"x": np.array([1, -2, 2.0**-24], np.float16)},
            {"y": np.array([0x3C00, 0xC000 - 0x10000, 1], np.int16)}, opset=26)
cases.check("y = BitCast x | to=2", {"x": np.array([True, False])}, {"y": np.array([1, 0], np.uint8)}, opset=26)
codes = np.arange(256, dtype=np.uint8)
cases.check("y = BitCast x | to=3", {"x": codes}, {"y": codes.view(np.int8)}, opset=26, types={"x": "e4m3fn"})
cases.check("y = BitCast x | to=21", {"x": np.arange(-8, 8, dtype=np.int8)}, {"y": np.arange(-8, 8).astype(np.uint8) % 16},
            opset=26, types={"x": "i4"})
cases.check("y = BitCast x | to=22", {"x": np.arange(16, dtype=np.uint8)},
            {"y": np.array([*range(8), *range(-8, 0)], np.int8)}, opset=26, types={"x": "e2m1"})
cases.finish()
