//===- Floats.cpp - Arithmetic of f32 and f64 -----------------------------===//
//
// Section 9.7.3. The results of IEEE 754 in the rounding that the instruction names, which is set
// in the host for the time of an instruction: this file is compiled with access to that
// environment.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Floats.h"
#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/instructions/Elementwise.h"
#include <cfenv>
#include <cmath>

#pragma STDC FENV_ACCESS ON

namespace tfc::gpu {

using enum Scalar;

namespace {
enum Flag : uint8_t { kFlush = 1, kSaturate = 2, kModeShift = 2 };

constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

/// Keeps a rounding mode of the host for its lifetime.
class HostRounding {
public:
  explicit HostRounding(int mode) : isOther(mode != FE_TONEAREST) {
    if (isOther)
      fesetround(mode);
  }
  ~HostRounding() {
    if (isOther)
      fesetround(FE_TONEAREST);
  }

private:
  bool isOther;
};
} // namespace

/// The value of a cell, flushed if the instruction asks for it.
template <typename T> static T load(uint64_t cell, bool isFlush) {
  if constexpr (sizeof(T) == 4)
    return floatOf(isFlush ? flushed(static_cast<uint32_t>(cell)) : static_cast<uint32_t>(cell));
  else
    return doubleOf(cell);
}

/// The cell of a result: NaN is canonical, and .sat clamps to [0, 1], with NaN as 0.
template <typename T> static uint64_t store(T value, uint8_t flags) {
  if (flags & kSaturate)
    value = value > 0 ? (value < 1 ? value : T(1)) : T(0);
  if constexpr (sizeof(T) == 8)
    return std::isnan(value) ? kNanDouble : bitsOf(value);
  uint32_t bits = bitsOf(static_cast<float>(value));
  if (isNan(bits))
    return kNanSingle;
  return flags & kFlush ? flushed(bits) : bits;
}

template <auto Function, typename T, size_t... Is>
static inline void runRounded(Warp &warp, const Instruction &i, uint32_t active,
                              std::index_sequence<Is...>) {
  HostRounding rounding(kModes[i.flags >> kModeShift]);
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *sources[] = {warp.cells(i.operands[1 + Is])...};
  uint8_t flags = i.flags;
  bool isFlush = flags & kFlush;
  forEachLane(active, [&](unsigned lane) {
    result[lane] = store<T>(Function(load<T>(sources[Is][lane], isFlush)...), flags);
  });
}

/// Executes `result = Function(sources...)` in the rounding of the instruction.
template <auto Function, typename T, unsigned Count>
static void rounded(Warp &warp, const Instruction &i, uint32_t active) {
  runRounded<Function, T>(warp, i, active, std::make_index_sequence<Count>());
}

template <auto Function, unsigned Count> static void setRounded(Decoder &d, Scalar type) {
  d.bindSame(type, Count);
  d.setExecute(type == F32 ? rounded<Function, float, Count> : rounded<Function, double, Count>,
               Class::Float);
}

//===----------------------------------------------------------------------===//
// Rounded arithmetic
//===----------------------------------------------------------------------===//

static constexpr auto kAdd = [](auto a, auto b) { return a + b; };
static constexpr auto kSubtract = [](auto a, auto b) { return a - b; };
static constexpr auto kMultiply = [](auto a, auto b) { return a * b; };
static constexpr auto kDivide = [](auto a, auto b) { return a / b; };
static constexpr auto kFma = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
static constexpr auto kSquareRoot = [](auto a) { return std::sqrt(a); };
static constexpr auto kReciprocal = [](auto a) { return decltype(a)(1) / a; };

/// {.rnd}{.ftz}{.sat}.f32 and {.rnd}.f64.
static Scalar takeRounding(Decoder &d, bool isRequired, bool maySaturate) {
  int mode = d.takeOneOf({"rn", "rz", "rm", "rp"});
  if (mode < 0 && isRequired)
    d.failUnknown();
  d.instruction.flags = static_cast<uint8_t>(std::max(mode, 0) << kModeShift);
  if (d.takeIf("ftz"))
    d.instruction.flags |= kFlush;
  if (maySaturate && d.takeIf("sat"))
    d.instruction.flags |= kSaturate;
  Scalar type = d.takeType({F32, F64});
  if (type == F64 && (d.instruction.flags & (kFlush | kSaturate)))
    d.failUnknown();
  return type;
}

template <auto Function> static void decodeSum(Decoder &d) {
  setRounded<Function, 2>(d, takeRounding(d, false, true));
}

static void decodeFma(Decoder &d) {
  d.instruction.multiplyAdds = 1;
  setRounded<kFma, 3>(d, takeRounding(d, true, true));
}

void decodeRoundedDivision(Decoder &d) { setRounded<kDivide, 2>(d, takeRounding(d, true, false)); }
void decodeRoundedReciprocal(Decoder &d) {
  setRounded<kReciprocal, 1>(d, takeRounding(d, true, false));
}
void decodeRoundedRoot(Decoder &d) { setRounded<kSquareRoot, 1>(d, takeRounding(d, true, false)); }

//===----------------------------------------------------------------------===//
// Signs, minimum and maximum
//===----------------------------------------------------------------------===//

static Scalar takeFlush(Decoder &d) {
  d.instruction.flags = d.takeIf("ftz") ? kFlush : 0;
  Scalar type = d.takeType({F32, F64});
  if (type == F64 && d.instruction.flags)
    d.failUnknown();
  return type;
}

/// abs and neg change the sign alone, of NaN as well, whose payload is left open (9.7.3.9).
template <typename T, bool IsNegation>
static void changeSign(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]);
  constexpr uint64_t sign = uint64_t(1) << (8 * sizeof(T) - 1);
  forEachLane(active, [&](unsigned lane) {
    uint64_t bits = i.flags & kFlush ? flushed(static_cast<uint32_t>(a[lane])) : a[lane];
    result[lane] = IsNegation ? bits ^ sign : bits & ~sign;
  });
}

template <bool IsNegation> static void decodeSign(Decoder &d) {
  Scalar type = takeFlush(d);
  d.bindSame(type, 1);
  d.setExecute(type == F32 ? changeSign<float, IsNegation> : changeSign<double, IsNegation>,
               Class::Float);
}

/// The number if the other one is NaN, or NaN with .NaN; +0 is greater than -0 (9.7.3.11).
template <bool IsMaximum, bool IsNan>
static constexpr auto kSelectOne = [](auto a, auto b) {
  using T = decltype(a);
  if (std::isnan(a) || std::isnan(b))
    return IsNan ? T(NAN) : std::isnan(a) ? b : a;
  if (a == b)
    return std::signbit(a) == IsMaximum ? b : a;
  return (a > b) == IsMaximum ? a : b;
};

/// min and max{.ftz}{.NaN}{.xorsign.abs}: the last is not known here.
template <bool IsMaximum> static void decodeSelectOne(Decoder &d) {
  d.instruction.flags = d.takeIf("ftz") ? kFlush : 0;
  bool isNan = d.takeIf("NaN");
  Scalar type = d.takeType({F32, F64});
  if (type == F64 && (isNan || d.instruction.flags))
    d.failUnknown();
  if (isNan)
    setRounded<kSelectOne<IsMaximum, true>, 2>(d, type);
  else
    setRounded<kSelectOne<IsMaximum, false>, 2>(d, type);
}

/// The magnitude of b with the sign of a (9.7.3.5).
template <typename T> static void copySign(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]), *b = warp.cells(i.operands[2]);
  constexpr uint64_t sign = uint64_t(1) << (8 * sizeof(T) - 1);
  forEachLane(active, [&](unsigned lane) { result[lane] = (a[lane] & sign) | (b[lane] & ~sign); });
}

static void decodeCopySign(Decoder &d) {
  Scalar type = d.takeType({F32, F64});
  d.bindSame(type, 2);
  d.setExecute(type == F32 ? copySign<float> : copySign<double>, Class::Float);
}

/// testp.finite and the like (9.7.3.4).
template <typename T> static void test(Warp &warp, const Instruction &i, uint32_t active) {
  const uint64_t *a = warp.cells(i.operands[1]);
  uint32_t mask = 0;
  forEachLane(active, [&](unsigned lane) {
    int kind = std::fpclassify(load<T>(a[lane], false));
    const bool answers[] = {kind != FP_NAN && kind != FP_INFINITE,
                            kind == FP_INFINITE,
                            kind != FP_NAN,
                            kind == FP_NAN,
                            kind == FP_NORMAL,
                            kind == FP_SUBNORMAL};
    mask |= uint32_t(answers[i.value]) << lane;
  });
  warp.setPredicate(i.operands[0], active, mask);
}

static void decodeTest(Decoder &d) {
  d.instruction.value =
      d.requireOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Scalar type = d.takeType({F32, F64});
  d.bind({Pred}, {type});
  d.setExecute(type == F32 ? test<float> : test<double>, Class::Float);
}

const Entry kFloatEntries[] = {{"add", Entry::Floats, decodeSum<kAdd>},
                               {"sub", Entry::Floats, decodeSum<kSubtract>},
                               {"mul", Entry::Floats, decodeSum<kMultiply>},
                               {"fma", Entry::Floats, decodeFma},
                               {"mad", Entry::Floats, decodeFma},
                               {"abs", Entry::Floats, decodeSign<false>},
                               {"neg", Entry::Floats, decodeSign<true>},
                               {"min", Entry::Floats, decodeSelectOne<false>},
                               {"max", Entry::Floats, decodeSelectOne<true>},
                               {"copysign", Entry::Floats, decodeCopySign},
                               {"testp", Entry::Floats, decodeTest},
                               {}};

} // namespace tfc::gpu
