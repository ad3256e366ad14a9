//===- Convert.cpp - Conversions of types ---------------------------------===//
//
// cvt, section 9.7.9.21 of the PTX ISA, as far as sm_80 has it at version 7.0. Compiled so that the
// rounding may change.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Cells.h"
#include "test/gpu/emulator/instructions/Half.h"
#include <cfenv>

namespace tfc::gpu {

namespace {

/// Instruction::value of conversions.
enum Modifier : int64_t {
  kRounding = 3, // nearest, to zero, down, up
  kToIntegral = 4,
  kFlush = 8,
  kSaturate = 16
};

struct F16 {};
struct BF16 {};

class Rounding {
public:
  explicit Rounding(int64_t modifiers) {
    static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    fesetround(kModes[modifiers & kRounding]);
  }
  ~Rounding() { fesetround(FE_TONEAREST); }
};

float flush(float value, int64_t modifiers) {
  bool isFlushed = (modifiers & kFlush) && std::fpclassify(value) == FP_SUBNORMAL;
  return isFlushed ? std::copysign(0.0f, value) : value;
}

/// The value of a source: an integer, a float or a double.
template <typename T> auto read(uint64_t cell, int64_t modifiers) {
  if constexpr (std::is_same_v<T, F16>)
    return static_cast<float>(fromHalf(uint16_t(cell), kF16));
  else if constexpr (std::is_same_v<T, BF16>)
    return static_cast<float>(fromHalf(uint16_t(cell), kBF16));
  else if constexpr (std::is_same_v<T, float>)
    return flush(fromCell<float>(cell), modifiers);
  else
    return fromCell<T>(cell);
}

/// NaN becomes 0, or the highest bit where f64 or 64 bits are involved.
template <typename To, typename From> To toInteger(From value) {
  if (std::isnan(value))
    return sizeof(From) == 8 || sizeof(To) == 8 ? To(uint64_t(1) << (8 * sizeof(To) - 1)) : To(0);
  From rounded = std::nearbyint(value); // as the rounding is set
  using Limits = std::numeric_limits<To>;
  if (rounded < static_cast<From>(Limits::min()))
    return Limits::min();
  // The largest integer may not be a float; the next power of two is.
  if (rounded >= std::ldexp(From(1), Limits::digits))
    return Limits::max();
  return static_cast<To>(rounded);
}

template <typename To, typename From> To clampTo(From value) {
  using Wide = __int128;
  return To(
      std::clamp<Wide>(value, std::numeric_limits<To>::min(), std::numeric_limits<To>::max()));
}

template <typename T> T finish(T value, int64_t modifiers) {
  if (std::isnan(value))
    return modifiers & kSaturate ? T(0)
           : sizeof(T) == 4      ? fromCell<T>(0x7fffffff)
                                 : fromCell<T>(0x7fffffffffffffff);
  if (modifiers & kSaturate)
    value = value <= 0 ? T(0) : std::min(value, T(1));
  return value;
}

template <typename To, typename From> uint64_t convert(From value, int64_t modifiers) {
  constexpr bool isToHalf = std::is_same_v<To, F16> || std::is_same_v<To, BF16>;
  if constexpr (isToHalf) {
    double wide = static_cast<double>(value);
    if (modifiers & kToIntegral) {
      Rounding rounding(modifiers);
      wide = std::nearbyint(wide);
    }
    bool isTowardZero = (modifiers & kRounding) == 1 && !(modifiers & kToIntegral);
    return toHalf(finish(wide, modifiers), std::is_same_v<To, F16> ? kF16 : kBF16, isTowardZero);
  } else if constexpr (std::is_integral_v<To>) {
    if constexpr (std::is_integral_v<From>)
      return toCell(modifiers & kSaturate ? clampTo<To>(value) : static_cast<To>(value));
    else
      return toCell(toInteger<To>(value));
  } else {
    if constexpr (std::is_floating_point_v<From>)
      if (modifiers & kToIntegral)
        value = std::nearbyint(value);
    To result = finish(static_cast<To>(value), modifiers);
    if constexpr (std::is_same_v<To, float>)
      result = flush(result, modifiers);
    return toCell(result);
  }
}

template <typename To, typename From>
void convertAll(Warp &warp, const Instruction &instruction, uint32_t active) {
  int64_t modifiers = instruction.value;
  constexpr bool isToHalf = std::is_same_v<To, F16> || std::is_same_v<To, BF16>;
  Rounding rounding(isToHalf ? 0 : modifiers);
  setResults<1>(warp, instruction, active, [=](unsigned, const uint64_t *x) {
    return convert<To>(read<From>(x[0], modifiers), modifiers);
  });
}

/// Two f32 to a pair, of which the second one takes the low half.
template <bool isBF16>
void convertPair(Warp &warp, const Instruction &instruction, uint32_t active) {
  bool isTowardZero = (instruction.value & kRounding) == 1;
  setResults<2>(warp, instruction, active, [=](unsigned, const uint64_t *x) {
    const HalfFormat &format = isBF16 ? kBF16 : kF16;
    uint64_t high = toHalf(fromCell<float>(x[0]), format, isTowardZero);
    return high << 16 | toHalf(fromCell<float>(x[1]), format, isTowardZero);
  });
}

/// Rounds to ten bits of mantissa, ties away from zero.
void convertToTF32(Warp &warp, const Instruction &instruction, uint32_t active) {
  setResults<1>(warp, instruction, active, [](unsigned, const uint64_t *x) {
    uint32_t bits = uint32_t(x[0]);
    if (std::isnan(fromCell<float>(bits)))
      return uint64_t(0x7fffffff);
    bool isFinite = (bits & 0x7f800000) != 0x7f800000;
    return uint64_t(isFinite ? (bits + 0x1000) & ~0x1fffu : bits);
  });
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Calls `use` with a value of the type of a source or result.
template <typename Use> static Instruction::Execute withType(Scalar type, Use use) {
  switch (type) {
  case Scalar::U8:
    return use(uint8_t());
  case Scalar::S8:
    return use(int8_t());
  case Scalar::F16:
    return use(F16());
  case Scalar::BF16:
    return use(BF16());
  case Scalar::F32:
    return use(float());
  case Scalar::F64:
    return use(double());
  default:
    return isInteger(type) ? withInteger(type, use) : nullptr;
  }
}

static Instruction::Execute executeOf(Scalar to, Scalar from) {
  return withType(to, [=](auto t) {
    return withType(from, [=](auto f) -> Instruction::Execute {
      return &convertAll<decltype(t), decltype(f)>;
    });
  });
}

static bool isAnyFloat(Scalar type) { return isFloat(type) || isHalf(type); }

/// Returns true if the rounding suits the types: conversions that may be inexact need one.
static bool isRoundingRight(Scalar to, Scalar from, int rounding, int integral) {
  if (!isAnyFloat(to) && !isAnyFloat(from))
    return rounding < 0 && integral < 0;
  if (!isAnyFloat(to))
    return rounding < 0 && integral >= 0;
  if (!isAnyFloat(from))
    return rounding >= 0 && integral < 0;
  bool isNarrower = bitsOf(to) < bitsOf(from);
  return isNarrower ? rounding >= 0 && integral < 0 : rounding < 0 && (integral < 0 || to == from);
}

static bool decodePair(Form &form, Scalar to, int rounding) {
  if (form.takeType() != Scalar::F32 || rounding < 0 || rounding > 1)
    return form.unknown();
  form.out.value = rounding;
  return setExecute(form, to == Scalar::BF16x2 ? &convertPair<true> : &convertPair<false>,
                    Class::Conversion) &&
         form.finish(3) && form.addResult(0, Scalar::B32) && form.addSource(1, Scalar::F32) &&
         form.addSource(2, Scalar::F32);
}

static bool decodeConvert(Form &form) {
  bool isAway = form.take("rna");
  int rounding = form.takeOneOf({"rn", "rz", "rm", "rp"});
  int integral = form.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  bool isFlushed = form.take("ftz"), isSaturated = form.take("sat");
  Scalar to = form.takeType();
  if (to == Scalar::F16x2 || to == Scalar::BF16x2)
    return isFlushed || isSaturated || isAway ? form.unknown() : decodePair(form, to, rounding);
  Scalar from = form.takeType();
  if (isAway || to == Scalar::TF32) {
    bool isKnown =
        isAway && to == Scalar::TF32 && from == Scalar::F32 && !isFlushed && !isSaturated;
    return isKnown ? setExecute(form, &convertToTF32, Class::Conversion) && form.finish(2) &&
                         form.addResult(0, Scalar::B32) && form.addSource(1, Scalar::F32)
                   : form.unknown();
  }
  // bf16 comes from f32 alone, and is widened by shifts.
  bool isKnown = from != Scalar::BF16 && !(to == Scalar::BF16 && from != Scalar::F32) &&
                 !(isFlushed && to != Scalar::F32 && from != Scalar::F32) &&
                 !(isHalf(to) && rounding > 1) && isRoundingRight(to, from, rounding, integral);
  Instruction::Execute execute = isKnown ? executeOf(to, from) : nullptr;
  form.out.value = std::max({rounding, integral, 0}) | (integral >= 0 ? kToIntegral : 0) |
                   (isFlushed ? kFlush : 0) | (isSaturated ? kSaturate : 0);
  auto stored = [](Scalar type) { return isHalf(type) ? Scalar::B16 : type; };
  return setExecute(form, execute, Class::Conversion) && form.finish(2) &&
         form.addResult(0, stored(to), /*mayBeWider=*/true) &&
         form.addSource(1, stored(from), /*mayBeWider=*/true);
}

void addConvert(DecodeTable &table) { table["cvt"] = decodeConvert; }

} // namespace tfc::gpu
