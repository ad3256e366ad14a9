//===- Approximate.cpp - Approximate functions ----------------------------===//
//
// The .approx and .full forms of section 9.7.3, which devices compute with errors of their own. The
// exact result is moved by a pseudo-random share of the documented error, so that nothing relies on
// the bits of one device.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Cells.h"

namespace tfc::gpu {

/// In Float.cpp.
bool decodeExactDivision(Form &form);
bool decodeExactRoot(Form &form);
bool decodeExactReciprocal(Form &form);

namespace {

enum Modifier : int64_t { kFlush = 1 };

/// A number in [-1, 1] that depends on the seed and the sources alone.
double drawShare(uint64_t seed, uint64_t bits) {
  uint64_t x = seed * 0x9e3779b97f4a7c15 + bits;
  for (int i = 0; i < 2; ++i) {
    x ^= x >> 31;
    x *= 0xbf58476d1ce4e5b9;
  }
  return double(int64_t(x)) / 0x1p63;
}

float flush(float value, int64_t modifiers) {
  bool isFlushed = (modifiers & kFlush) && std::fpclassify(value) == FP_SUBNORMAL;
  return isFlushed ? std::copysign(0.0f, value) : value;
}

/// The functions, with the largest error that the ISA documents for each result.
struct Exp2 {
  static double apply(const double *x) { return std::exp2(x[0]); }
  static double error(const double *, double y) { return std::fabs(y) * 0x1p-22; }
};
struct Log2 {
  static double apply(const double *x) { return std::log2(x[0]); }
  static double error(const double *x, double y) {
    bool isNearOne = x[0] > 0.5 && x[0] < 2;
    return isNearOne ? 0x1p-22 : std::fabs(y) * 0x1p-22;
  }
};
/// The absolute error grows with the number of turns that have to be taken away.
struct Sin {
  static double apply(const double *x) { return std::sin(x[0]); }
  static double error(const double *x, double) {
    return 0x1p-20 * std::max(1.0, std::fabs(x[0]) / 3.2);
  }
};
struct Cos {
  static double apply(const double *x) { return std::cos(x[0]); }
  static double error(const double *x, double y) { return Sin::error(x, y); }
};
struct Tanh {
  static double apply(const double *x) { return std::tanh(x[0]); }
  static double error(const double *, double y) { return std::fabs(y) * 0x1p-11; }
};
struct Reciprocal {
  static double apply(const double *x) { return 1 / x[0]; }
  static double error(const double *, double y) { return std::fabs(y) * 0x1p-23; }
};
struct Sqrt {
  static double apply(const double *x) { return std::sqrt(x[0]); }
  static double error(const double *, double y) { return std::fabs(y) * 0x1p-23; }
};
struct ReciprocalRoot {
  static double apply(const double *x) {
    return x[0] == 0 ? std::copysign(HUGE_VAL, x[0]) : 1 / std::sqrt(x[0]);
  }
  static double error(const double *, double y) { return std::fabs(y) * 0x1p-22; }
};
/// Two units in the last place; divisors above 2^126 may give 0 in the approximate form.
template <bool isFull> struct Quotient {
  static double apply(const double *x) {
    double size = std::fabs(x[1]);
    if (!isFull && size > 0x1p126 && size < HUGE_VAL)
      return std::isinf(x[0]) ? NAN : std::copysign(0.0, x[0]) * std::copysign(1.0, x[1]);
    return x[0] / x[1];
  }
  static double error(const double *, double y) { return std::fabs(y) * 0x1p-22; }
};

template <typename Op, int sources>
void approximate(Warp &warp, const Instruction &instruction, uint32_t active) {
  int64_t modifiers = instruction.value;
  uint64_t seed = warp.block.launch.seed;
  setResults<sources>(warp, instruction, active, [=](unsigned, const uint64_t *cells) {
    double x[sources];
    uint64_t bits = 0;
    for (int i = 0; i < sources; ++i) {
      x[i] = flush(fromCell<float>(cells[i]), modifiers);
      bits = bits * 0x100000001b3 + uint32_t(cells[i]);
    }
    double y = Op::apply(x);
    bool isExact = y == 0 || std::isinf(y) || std::isnan(y);
    if (!isExact)
      y += drawShare(seed, bits) * Op::error(x, y);
    float rounded = std::isnan(y) ? fromCell<float>(0x7fffffff) : static_cast<float>(y);
    return toCell(flush(rounded, modifiers));
  });
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static bool hasModifier(const Form &form, std::string_view modifier) {
  return std::find(form.source.modifiers.begin(), form.source.modifiers.end(), modifier) !=
         form.source.modifiers.end();
}

template <typename Op, int sources> static bool decodeApproximate(Form &form) {
  if (!form.take("approx") && !form.take("full"))
    return form.unknown();
  form.out.value = form.take("ftz") ? kFlush : 0;
  if (form.takeType() != Scalar::F32)
    return form.unknown();
  return setExecute(form, &approximate<Op, sources>, Class::Approximation) &&
         form.decodeSame(Scalar::F32, sources);
}

static bool decodeDivision(Form &form) {
  if (hasModifier(form, "approx"))
    return decodeApproximate<Quotient<false>, 2>(form);
  if (hasModifier(form, "full"))
    return decodeApproximate<Quotient<true>, 2>(form);
  return decodeExactDivision(form);
}

static bool decodeRoot(Form &form) {
  return hasModifier(form, "approx") ? decodeApproximate<Sqrt, 1>(form) : decodeExactRoot(form);
}

static bool decodeReciprocal(Form &form) {
  return hasModifier(form, "approx") ? decodeApproximate<Reciprocal, 1>(form)
                                     : decodeExactReciprocal(form);
}

void addApproximate(DecodeTable &table) {
  table["ex2/f"] = decodeApproximate<Exp2, 1>;
  table["lg2"] = decodeApproximate<Log2, 1>;
  table["sin"] = decodeApproximate<Sin, 1>;
  table["cos"] = decodeApproximate<Cos, 1>;
  table["tanh/f"] = decodeApproximate<Tanh, 1>;
  table["rsqrt"] = decodeApproximate<ReciprocalRoot, 1>;
  table["rcp"] = decodeReciprocal;
  table["sqrt"] = decodeRoot;
  table["div/f"] = decodeDivision;
}

} // namespace tfc::gpu
