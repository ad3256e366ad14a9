//===- Conversions.cpp - cvt ----------------------------------------------===//
//
// Section 9.7.8.21. Integers are converted by way of 64 bits, floats by way of double, which holds
// every other format, and rounded once. Floats outside of an integer type are clamped, NaN becomes
// 0.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/instructions/Elementwise.h"
#include <algorithm>
#include <cmath>

namespace tfc::gpu {

using enum Scalar;

namespace {
enum Flag : uint8_t { kFlush = 1, kSaturate = 2, kRelu = 4, kIntegral = 8 };

/// The parts of a conversion that the type of its source does not know.
struct Target {
  Scalar type;
  Rounding rounding;
};
} // namespace

/// Value holds the type and the rounding.
static Target targetOf(const Instruction &i) {
  return {static_cast<Scalar>(i.value & 0xff), static_cast<Rounding>(i.value >> 8)};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static const Format &formatOf(Scalar type) {
  switch (type) {
  case F16:
  case F16x2:
    return kHalf;
  case BF16:
  case BF16x2:
    return kBrain;
  case TF32:
    return kTensor;
  case F64:
    return kDouble;
  default:
    return kSingle;
  }
}

static double roundToInteger(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  default:
    return std::nearbyint(value); // to even, as the host rounds
  }
}

/// The bits of a float of a type. TF32 has the bits of f32 without the last 13.
static uint64_t encodeAs(Scalar type, double value, Rounding rounding, uint8_t flags) {
  if (flags & kSaturate)
    value = value > 0 ? std::min(value, 1.0) : 0.0;
  if (flags & kRelu && value < 0)
    value = 0;
  if (type == TF32)
    return std::isnan(value) ? kNanSingle : encode(value, kTensor, rounding) << 13;
  if (type == F64)
    return std::isnan(value) ? kNanDouble : bitsOf(value);
  uint64_t bits = encode(value, formatOf(type), rounding);
  return flags & kFlush && type == F32 ? flushed(static_cast<uint32_t>(bits)) : bits;
}

/// A number of `bits` bits, with its sign extended if it has one.
static uint64_t extend(uint64_t value, int bits, bool isSigned) {
  if (bits == 64)
    return value;
  uint64_t shifted = value << (64 - bits);
  return isSigned ? static_cast<uint64_t>(static_cast<int64_t>(shifted) >> (64 - bits))
                  : shifted >> (64 - bits);
}

/// The nearest integer of a type; the value is integral.
static uint64_t clampTo(Scalar type, double value) {
  if (std::isnan(value))
    return 0;
  int bits = bitsOf(type);
  if (isSigned(type)) {
    double limit = std::ldexp(1.0, bits - 1);
    auto highest = (uint64_t(1) << (bits - 1)) - 1;
    return value >= limit    ? highest
           : value <= -limit ? ~highest
                             : static_cast<uint64_t>(static_cast<int64_t>(value));
  }
  if (value >= std::ldexp(1.0, bits))
    return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return value <= 0 ? 0 : static_cast<uint64_t>(value);
}

/// .sat between integers: the nearest value of the type.
static uint64_t saturate(Scalar type, uint64_t value, bool isNegative) {
  int bits = bitsOf(type);
  auto highest = isSigned(type) ? (uint64_t(1) << (bits - 1)) - 1
                                : (bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1);
  if (!isNegative)
    return std::min(value, highest);
  if (!isSigned(type))
    return 0;
  return static_cast<int64_t>(value) < static_cast<int64_t>(~highest) ? ~highest : value;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

template <typename T> static void fromInteger(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]);
  Target target = targetOf(i);
  bool isSaturated = i.flags & kSaturate, isToSigned = isSigned(target.type);
  int bits = bitsOf(target.type);
  if (isInteger(target.type)) {
    forEachLane(active, [&](unsigned lane) {
      auto source = fromCell<T>(a[lane]);
      auto value = static_cast<uint64_t>(static_cast<int64_t>(source));
      if (std::is_unsigned_v<T>)
        value = static_cast<uint64_t>(source);
      if (isSaturated)
        value = saturate(target.type, value, source < T(0));
      result[lane] = extend(value, bits, isToSigned) & i.access.resultMask;
    });
    return;
  }
  const Format &format = formatOf(target.type);
  forEachLane(active, [&](unsigned lane) {
    auto source = fromCell<T>(a[lane]);
    bool isNegative = source < T(0);
    uint64_t magnitude =
        isNegative ? 0 - static_cast<uint64_t>(source) : static_cast<uint64_t>(source);
    if (isSaturated)
      magnitude = isNegative ? 0 : std::min<uint64_t>(magnitude, 1);
    result[lane] = encodeInteger(magnitude, isNegative && !isSaturated, format, target.rounding);
  });
}

template <Scalar Type> static double load(uint64_t cell, bool isFlush) {
  if constexpr (Type == F16)
    return halfToFloat(static_cast<uint16_t>(cell));
  else if constexpr (Type == BF16)
    return brainToFloat(static_cast<uint16_t>(cell));
  else if constexpr (Type == F32)
    return floatOf(isFlush ? flushed(static_cast<uint32_t>(cell)) : static_cast<uint32_t>(cell));
  else
    return doubleOf(cell);
}

template <Scalar Type> static void fromFloat(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]);
  Target target = targetOf(i);
  bool isToInteger = isInteger(target.type), isFlush = i.flags & kFlush;
  forEachLane(active, [&](unsigned lane) {
    double value = load<Type>(a[lane], isFlush);
    if (i.flags & kIntegral)
      value = roundToInteger(value, target.rounding);
    result[lane] = isToInteger ? clampTo(target.type, value) & i.access.resultMask
                               : encodeAs(target.type, value, target.rounding, i.flags);
  });
}

/// Two f32 become a pair: the first one its upper half.
static void toPair(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]), *b = warp.cells(i.operands[2]);
  Target target = targetOf(i);
  forEachLane(active, [&](unsigned lane) {
    uint64_t high = encodeAs(target.type, load<F32>(a[lane], false), target.rounding, i.flags);
    uint64_t low = encodeAs(target.type, load<F32>(b[lane], false), target.rounding, i.flags);
    result[lane] = high << 16 | low;
  });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static Instruction::Execute choose(Scalar type) {
  switch (type) {
  case U8:
    return fromInteger<uint8_t>;
  case U16:
    return fromInteger<uint16_t>;
  case U32:
    return fromInteger<uint32_t>;
  case U64:
    return fromInteger<uint64_t>;
  case S8:
    return fromInteger<int8_t>;
  case S16:
    return fromInteger<int16_t>;
  case S32:
    return fromInteger<int32_t>;
  case S64:
    return fromInteger<int64_t>;
  case F16:
    return fromFloat<F16>;
  case BF16:
    return fromFloat<BF16>;
  case F32:
    return fromFloat<F32>;
  default:
    return fromFloat<F64>;
  }
}

/// Numbers of f16 and bf16 are all numbers of f32, and those of f64; neither is all of the other.
static bool isNarrowing(Scalar to, Scalar from) {
  bool areHalves = bitsOf(to) == 16 && bitsOf(from) == 16 && to != from;
  return bitsOf(to) < bitsOf(from) || areHalves;
}

/// Returns true if an integer type has all values of another one.
static bool holdsAllOf(Scalar to, Scalar from) {
  if (isSigned(to) == isSigned(from))
    return bitsOf(to) >= bitsOf(from);
  return isSigned(to) && bitsOf(to) > bitsOf(from);
}

/// cvt.rn and .rz{.relu} to the formats that compute capability 8.0 has for f32 (not .sat, .ftz).
static void decodeFromSingle(Decoder &d, Scalar to, int rounding) {
  bool isPair = to == F16x2 || to == BF16x2;
  bool isTensor = to == TF32;
  if (!(isTensor || isHalf(to)) || (isTensor && d.instruction.flags & kRelu) ||
      (isTensor ? rounding != 4 : rounding > 1 || rounding < 0))
    d.failUnknown();
  d.endModifiers();
  d.requireCount(isPair ? 3 : 2);
  d.addResult(d.operand(0), to);
  d.addSource(d.operand(1), F32);
  if (isPair)
    d.addSource(d.operand(2), F32);
  d.setExecute(isPair ? toPair : fromFloat<F32>, Class::Conversion);
}

/// The rules for roundings: integers from floats have .rni and the like, floats from integers or
/// wider floats .rn and the like, and nothing else has a rounding.
static bool isRoundingAllowed(Scalar to, Scalar from, bool hasInteger, bool hasFloat) {
  bool isToInteger = isInteger(to), isFromInteger = isInteger(from);
  if (isToInteger)
    return hasInteger == !isFromInteger && !hasFloat;
  if (isFromInteger || isNarrowing(to, from))
    return hasFloat && !hasInteger;
  return !hasFloat && (!hasInteger || to == from);
}

static void decodeConvert(Decoder &d) {
  static constexpr Rounding kRoundings[] = {Rounding::Nearest, Rounding::Zero, Rounding::Down,
                                            Rounding::Up, Rounding::Away};
  int integer = d.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  int rounding = integer < 0 ? d.takeOneOf({"rn", "rz", "rm", "rp", "rna"}) : -1;
  bool isFlush = d.takeIf("ftz"), isSaturated = d.takeIf("sat"), isRelu = d.takeIf("relu");
  static constexpr auto kTypes = {U8,  U16, U32, U64,  S8,    S16,    S32, S64,
                                  F16, F32, F64, BF16, F16x2, BF16x2, TF32};
  Scalar to = d.takeType(kTypes), from = d.takeType(kTypes);
  d.instruction.flags = (isFlush ? kFlush : 0) | (isSaturated ? kSaturate : 0) |
                        (isRelu ? kRelu : 0) | (integer >= 0 ? kIntegral : 0);
  d.instruction.value =
      static_cast<int>(to) | static_cast<int>(kRoundings[std::max({integer, rounding, 0})]) << 8;
  bool isFromSingle = from == F32 && !isFlush && !isSaturated;
  if (isFromSingle && (to == F16x2 || to == BF16x2 || to == TF32 || to == BF16 || isRelu))
    return decodeFromSingle(d, to, rounding);
  if (isSaturated && isInteger(to) && isInteger(from) && holdsAllOf(to, from))
    return d.failUnknown();
  bool isSpecial = isRelu || rounding == 4 || to > F64 || from > F64;
  bool hasSingle = to == F32 || from == F32;
  if (isSpecial || (isFlush && !hasSingle) ||
      !isRoundingAllowed(to, from, integer >= 0, rounding >= 0))
    return d.failUnknown();
  d.endModifiers();
  d.requireCount(2);
  d.addResult(d.operand(0), to, true);
  d.addSource(d.operand(1), from, true);
  if (d.operand(0).kind == ptx::Operand::Kind::Register) {
    int bits = d.scope.function->registers[d.operand(0).number].type.bits;
    d.instruction.access.resultMask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  }
  d.setExecute(choose(from), Class::Conversion);
}

const Entry kConversionEntries[] = {{"cvt", Entry::Any, decodeConvert}, {}};

} // namespace tfc::gpu
