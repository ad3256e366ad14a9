//===- Halves.cpp - Arithmetic of f16, bf16 and pairs of them -------------===//
//
// Section 9.7.4. Sums and products are computed as doubles, exactly or rounded to odd, and rounded
// once to the format.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/instructions/Elementwise.h"
#include <algorithm>
#include <cmath>

namespace tfc::gpu {

using enum Scalar;

namespace {
enum Flag : uint8_t {
  kFlush = 1,
  kSaturate = 2,
  kRelu = 4,
  kPair = 8,
  kBrainFormat = 16,
  kNan = 32
};
} // namespace

static bool isBrain(Scalar type) { return type == BF16 || type == BF16x2; }
static bool isPair(Scalar type) { return type == F16x2 || type == BF16x2; }

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

static double load(uint16_t bits, uint8_t flags) {
  if (flags & kBrainFormat)
    return brainToFloat(bits);
  return halfToFloat(flags & kFlush && !(bits & 0x7c00) ? bits & 0x8000 : bits);
}

static uint16_t store(double value, uint8_t flags) {
  if (flags & kSaturate)
    value = value > 0 ? std::min(value, 1.0) : 0.0; // NaN becomes 0
  if (flags & kRelu && value < 0)
    value = 0;
  auto bits = static_cast<uint16_t>(
      encode(value, flags & kBrainFormat ? kBrain : kHalf, Rounding::Nearest));
  return flags & kFlush && !(bits & 0x7c00) ? bits & 0x8000 : bits;
}

template <auto Function, size_t... Is>
static void runHalves(Warp &warp, const Instruction &i, uint32_t active,
                      std::index_sequence<Is...>) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *sources[] = {warp.cells(i.operands[1 + Is])...};
  uint8_t flags = i.flags;
  unsigned bits = flags & kPair ? 32 : 16;
  forEachLane(active, [&](unsigned lane) {
    uint64_t cell = 0;
    for (unsigned shift = 0; shift < bits; shift += 16) {
      double value = Function(load(static_cast<uint16_t>(sources[Is][lane] >> shift), flags)...);
      cell |= uint64_t(store(value, flags)) << shift;
    }
    result[lane] = cell;
  });
}

template <auto Function, unsigned Count>
static void halves(Warp &warp, const Instruction &i, uint32_t active) {
  runHalves<Function>(warp, i, active, std::make_index_sequence<Count>());
}

static constexpr auto kAdd = [](double a, double b) { return a + b; }; // exact for f16
static constexpr auto kSubtract = [](double a, double b) { return a - b; };
static constexpr auto kMultiply = [](double a, double b) { return a * b; };
static constexpr auto kFma = [](double a, double b, double c) { return fmaToOdd(a, b, c); };

/// The number if the other one is NaN; +0 is greater than -0 (9.7.4.8).
template <bool IsMaximum, bool IsNan>
static constexpr auto kSelectOne = [](double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return IsNan ? NAN : std::isnan(a) ? b : a;
  if (a == b)
    return std::signbit(a) == IsMaximum ? b : a;
  return (a > b) == IsMaximum ? a : b;
};

/// neg and abs change the sign bits. Value is the mask of them.
template <bool IsNegation>
static void changeSign(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]);
  auto signs = static_cast<uint64_t>(i.value);
  forEachLane(active, [&](unsigned lane) {
    uint64_t bits = a[lane];
    for (unsigned shift = 0; i.flags & kFlush && shift < 32; shift += 16)
      if (!(bits >> shift & 0x7c00))
        bits &= ~(uint64_t(0x7fff) << shift);
    result[lane] = IsNegation ? bits ^ signs : bits & ~signs;
  });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Ends the modifiers with one of these types.
static Scalar takeHalf(Decoder &d, std::initializer_list<Scalar> types) {
  Scalar type = d.takeType(types);
  d.instruction.flags |= (isPair(type) ? kPair : 0) | (isBrain(type) ? kBrainFormat : 0);
  if (isBrain(type) && d.instruction.flags & (kFlush | kSaturate))
    d.failUnknown();
  return type;
}

/// add, sub, mul{.rn}{.ftz}{.sat}.f16: those of bf16 need sm_90.
template <auto Function> static void decodeBinary(Decoder &d) {
  d.takeIf("rn");
  d.instruction.flags = (d.takeIf("ftz") ? kFlush : 0) | (d.takeIf("sat") ? kSaturate : 0);
  d.bindSame(takeHalf(d, {F16, F16x2}), 2);
  d.setExecute(halves<Function, 2>, Class::Float);
}

/// fma.rn{.ftz}{.sat}.f16, fma.rn{.ftz}{.relu}.f16, fma.rn{.relu}.bf16.
static void decodeFma(Decoder &d) {
  d.requireOneOf({"rn"});
  d.instruction.flags = d.takeIf("ftz") ? kFlush : 0;
  int clamp = d.takeOneOf({"sat", "relu"});
  d.instruction.flags |= clamp == 0 ? kSaturate : clamp == 1 ? kRelu : 0;
  Scalar type = takeHalf(d, {F16, F16x2, BF16, BF16x2});
  d.bindSame(type, 3);
  d.instruction.multiplyAdds = isPair(type) ? 2 : 1;
  d.setExecute(halves<kFma, 3>, Class::Float);
}

/// min and max{.ftz}{.NaN}.f16, and {.NaN}.bf16.
template <bool IsMaximum> static void decodeSelectOne(Decoder &d) {
  d.instruction.flags = d.takeIf("ftz") ? kFlush : 0;
  bool isNan = d.takeIf("NaN");
  d.bindSame(takeHalf(d, {F16, F16x2, BF16, BF16x2}), 2);
  d.setExecute(isNan ? halves<kSelectOne<IsMaximum, true>, 2>
                     : halves<kSelectOne<IsMaximum, false>, 2>,
               Class::Float);
}

template <bool IsNegation> static void decodeSign(Decoder &d) {
  d.instruction.flags = d.takeIf("ftz") ? kFlush : 0;
  Scalar type = takeHalf(d, {F16, F16x2, BF16, BF16x2});
  d.instruction.value = isPair(type) ? 0x80008000 : 0x8000;
  d.bindSame(type, 1);
  d.setExecute(changeSign<IsNegation>, Class::Float);
}

const Entry kHalfEntries[] = {{"add", Entry::Halves, decodeBinary<kAdd>},
                              {"sub", Entry::Halves, decodeBinary<kSubtract>},
                              {"mul", Entry::Halves, decodeBinary<kMultiply>},
                              {"fma", Entry::Halves, decodeFma},
                              {"min", Entry::Halves, decodeSelectOne<false>},
                              {"max", Entry::Halves, decodeSelectOne<true>},
                              {"neg", Entry::Halves, decodeSign<true>},
                              {"abs", Entry::Halves, decodeSign<false>},
                              {}};

} // namespace tfc::gpu
