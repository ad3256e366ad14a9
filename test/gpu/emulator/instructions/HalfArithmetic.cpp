//===- HalfArithmetic.cpp - Arithmetic of 16-bit floats and their pairs ---===//
//
// Section 9.7.4 of the PTX ISA, as far as sm_80 has it: sums and products of f16, and fused
// products and extrema of f16 and bf16.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Cells.h"
#include "test/gpu/emulator/instructions/Half.h"

namespace tfc::gpu {

namespace {

/// Instruction::value.
enum Modifier : int64_t { kFlush = 1, kSaturate = 2, kRelu = 4, kPair = 8 };

/// a + b with its last bit set if it is not exact, so that another rounding gives what a single one
/// would (rounding to odd).
double addToOdd(double a, double b) {
  double sum = a + b, back = sum - a, rest = (a - (sum - back)) + (b - back);
  bool isEven = (std::bit_cast<uint64_t>(sum) & 1) == 0;
  if (rest == 0 || !std::isfinite(sum) || !isEven)
    return sum;
  return std::nextafter(sum, rest > 0 ? HUGE_VAL : -HUGE_VAL);
}

struct Add {
  static double apply(const double *x) { return x[0] + x[1]; }
};
struct Sub {
  static double apply(const double *x) { return x[0] - x[1]; }
};
struct Mul {
  static double apply(const double *x) { return x[0] * x[1]; }
};
struct Fma {
  static double apply(const double *x) { return addToOdd(x[0] * x[1], x[2]); }
};
template <bool isMax, bool keepsNaN> struct Extremum {
  static double apply(const double *x) {
    bool isFirstNaN = std::isnan(x[0]), isSecondNaN = std::isnan(x[1]);
    if (isFirstNaN || isSecondNaN)
      return keepsNaN ? NAN : x[isFirstNaN];
    if (x[0] == x[1])
      return std::signbit(x[0]) == isMax ? x[1] : x[0];
    return (x[0] < x[1]) == isMax ? x[1] : x[0];
  }
};
struct Abs {
  static double apply(const double *x) { return std::fabs(x[0]); }
};
struct Neg {
  static double apply(const double *x) { return -x[0]; }
};

template <typename Op, int sources>
uint16_t applyOne(const uint64_t *cells, unsigned shift, const HalfFormat &format,
                  int64_t modifiers) {
  auto flush = [&](double value) {
    bool isFlushed = (modifiers & kFlush) && std::fabs(value) < std::ldexp(1, format.leastExponent);
    return isFlushed ? std::copysign(0.0, value) : value;
  };
  double x[sources];
  for (int i = 0; i < sources; ++i)
    x[i] = flush(fromHalf(uint16_t(cells[i] >> shift), format));
  double value = Op::apply(x);
  if (modifiers & kSaturate)
    value = std::isnan(value) || value <= 0 ? 0 : std::min(value, 1.0);
  if ((modifiers & kRelu) && value < 0)
    value = 0;
  return toHalf(flush(value), format);
}

template <typename Op, int sources, bool isBF16>
void arithmetic(Warp &warp, const Instruction &instruction, uint32_t active) {
  int64_t modifiers = instruction.value;
  setResults<sources>(warp, instruction, active, [=](unsigned, const uint64_t *x) {
    const HalfFormat &format = isBF16 ? kBF16 : kF16;
    uint64_t low = applyOne<Op, sources>(x, 0, format, modifiers), high = 0;
    if (modifiers & kPair)
      high = applyOne<Op, sources>(x, 16, format, modifiers);
    return high << 16 | low;
  });
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Takes the type, and sets the pair.
static bool takeHalf(Form &form, bool &isBF16) {
  Scalar type = form.takeType();
  isBF16 = type == Scalar::BF16 || type == Scalar::BF16x2;
  if (type == Scalar::F16x2 || type == Scalar::BF16x2)
    form.out.value |= kPair;
  return isHalf(type);
}

template <typename Op, int sources> static bool decodeAs(Form &form, bool isBF16) {
  Instruction::Execute execute =
      isBF16 ? &arithmetic<Op, sources, true> : &arithmetic<Op, sources, false>;
  Scalar stored = form.out.value & kPair ? Scalar::B32 : Scalar::B16;
  return setExecute(form, execute, Class::Float) && form.decodeSame(stored, sources);
}

template <typename Op, int sources> static bool decodeArithmetic(Form &form) {
  bool isFma = std::is_same_v<Op, Fma>, isRounded = form.take("rn");
  bool isFlushed = form.take("ftz"), isSaturated = form.take("sat");
  bool isRelu = isFma && form.take("relu"), isBF16;
  form.out.value = (isFlushed ? kFlush : 0) | (isSaturated ? kSaturate : 0) | (isRelu ? kRelu : 0);
  bool isKnown = takeHalf(form, isBF16) && !(isFma && !isRounded) && !(isSaturated && isRelu) &&
                 !(isBF16 && (!isFma || isFlushed || isSaturated));
  form.out.multiplyAdds = isFma ? (form.out.value & kPair ? 2 : 1) : 0;
  return isKnown ? decodeAs<Op, sources>(form, isBF16) : form.unknown();
}

template <bool isMax> static bool decodeExtremum(Form &form) {
  bool isFlushed = form.take("ftz"), keepsNaN = form.take("NaN"), isBF16;
  form.out.value = isFlushed ? kFlush : 0;
  if (!takeHalf(form, isBF16) || (isBF16 && isFlushed))
    return form.unknown();
  return keepsNaN ? decodeAs<Extremum<isMax, true>, 2>(form, isBF16)
                  : decodeAs<Extremum<isMax, false>, 2>(form, isBF16);
}

template <typename Op> static bool decodeSign(Form &form) {
  bool isFlushed = form.take("ftz"), isBF16;
  form.out.value = isFlushed ? kFlush : 0;
  if (!takeHalf(form, isBF16) || (isBF16 && isFlushed))
    return form.unknown();
  return decodeAs<Op, 1>(form, isBF16);
}

void addHalf(DecodeTable &table) {
  table["add/h"] = decodeArithmetic<Add, 2>;
  table["sub/h"] = decodeArithmetic<Sub, 2>;
  table["mul/h"] = decodeArithmetic<Mul, 2>;
  table["fma/h"] = decodeArithmetic<Fma, 3>;
  table["min/h"] = decodeExtremum<false>;
  table["max/h"] = decodeExtremum<true>;
  table["abs/h"] = decodeSign<Abs>;
  table["neg/h"] = decodeSign<Neg>;
}

} // namespace tfc::gpu
