//===- Approximations.cpp - Functions that are approximated ---------------===//
//
// Sections 9.7.3.8 to 9.7.3.22 and 9.7.4.10. Division, reciprocal and square root also have forms
// with a rounding, which are exact.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/Approximate.h"
#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/execute/Block.h"
#include "test/gpu/emulator/instructions/Elementwise.h"
#include "test/gpu/emulator/instructions/Floats.h"

namespace tfc::gpu {

using enum Scalar;

namespace {
enum Flag : uint8_t { kFlush = 1, kFull = 2 };
} // namespace

template <Function F> static void run(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]);
  uint64_t seed = warp.block.launch.seed;
  bool isFlush = i.flags & kFlush;
  auto flush = [&](uint64_t cell) {
    auto bits = static_cast<uint32_t>(cell);
    return isFlush ? flushed(bits) : bits;
  };
  forEachLane(active, [&](unsigned lane) {
    result[lane] = flush(approximate(F, flush(a[lane]), 0, seed));
  });
}

/// Above 2^126, an approximate division has no use: infinities become NaN, others 0 (9.7.3.8).
static void divide(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]), *b = warp.cells(i.operands[2]);
  uint64_t seed = warp.block.launch.seed;
  forEachLane(active, [&](unsigned lane) {
    auto x = static_cast<uint32_t>(a[lane]), y = static_cast<uint32_t>(b[lane]);
    if (i.flags & kFlush) {
      x = flushed(x);
      y = flushed(y);
    }
    uint32_t magnitude = y & 0x7fffffff;
    uint32_t quotient;
    if (!(i.flags & kFull) && magnitude > 0x7e800000 && magnitude < 0x7f800000)
      quotient = (x & 0x7fffffff) >= 0x7f800000 ? kNanSingle : (x ^ y) & 0x80000000;
    else
      quotient = approximate(Function::Division, x, y, seed);
    result[lane] = i.flags & kFlush ? flushed(quotient) : quotient;
  });
}

template <Function F> static void runHalves(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]);
  uint64_t seed = warp.block.launch.seed;
  forEachLane(active, [&](unsigned lane) {
    uint64_t cell = 0;
    for (int shift = 0; shift < i.value; shift += 16)
      cell |= uint64_t(approximateHalf(F, static_cast<uint16_t>(a[lane] >> shift), seed)) << shift;
    result[lane] = cell;
  });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// .approx{.ftz}.f32
template <Function F> static void decodeApproximate(Decoder &d) {
  d.requireOneOf({"approx"});
  d.instruction.flags = d.takeIf("ftz") ? kFlush : 0;
  d.takeType({F32});
  d.bindSame(F32, 1);
  d.setExecute(run<F>, Class::Special);
}

/// .approx.f16, .f16x2; those of bf16 need sm_90.
template <Function F> static void decodeApproximateHalf(Decoder &d) {
  d.requireOneOf({"approx"});
  Scalar type = d.takeType({F16, F16x2});
  d.instruction.value = bitsOf(type);
  d.bindSame(type, 1);
  d.setExecute(runHalves<F>, Class::Special);
}

static void decodeTangent(Decoder &d) {
  if (d.hasModifier("ftz"))
    d.failUnknown();
  decodeApproximate<Function::Tangent>(d);
}

static void decodeReciprocal(Decoder &d) {
  d.hasModifier("approx") ? decodeApproximate<Function::Reciprocal>(d) : decodeRoundedReciprocal(d);
}

static void decodeRoot(Decoder &d) {
  d.hasModifier("approx") ? decodeApproximate<Function::SquareRoot>(d) : decodeRoundedRoot(d);
}

static void decodeDivide(Decoder &d) {
  int kind = d.takeOneOf({"approx", "full"});
  if (kind < 0)
    return decodeRoundedDivision(d);
  d.instruction.flags = kind == 1 ? kFull : 0;
  if (d.takeIf("ftz"))
    d.instruction.flags |= kFlush;
  d.takeType({F32});
  d.bindSame(F32, 2);
  d.setExecute(divide, Class::Special);
}

const Entry kApproximateEntries[] = {
    {"div", Entry::Floats, decodeDivide},
    {"rcp", Entry::Floats, decodeReciprocal},
    {"sqrt", Entry::Floats, decodeRoot},
    {"rsqrt", Entry::Floats, decodeApproximate<Function::ReciprocalRoot>},
    {"sin", Entry::Floats, decodeApproximate<Function::Sine>},
    {"cos", Entry::Floats, decodeApproximate<Function::Cosine>},
    {"lg2", Entry::Floats, decodeApproximate<Function::Logarithm>},
    {"ex2", Entry::Floats, decodeApproximate<Function::Exponential>},
    {"tanh", Entry::Floats, decodeTangent},
    {"ex2", Entry::Halves, decodeApproximateHalf<Function::Exponential>},
    {"tanh", Entry::Halves, decodeApproximateHalf<Function::Tangent>},
    {}};

} // namespace tfc::gpu
