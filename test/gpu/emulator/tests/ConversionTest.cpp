//===- ConversionTest.cpp - cvt -------------------------------------------===//
//
// Converts all numbers of the small formats, and numbers between each two neighbours in each
// rounding.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/tests/Kernel.h"
#include <cmath>

using namespace tfc::gpu;
using namespace tfc::gpu::test;

static Numbers allNumbers() {
  Numbers numbers;
  for (uint64_t i = 0; i < 0x10000; ++i)
    numbers.push_back(i);
  return numbers;
}

/// The value of a half by its definition.
static double valueOf(uint64_t bits) {
  int exponent = bits >> 10 & 31;
  double fraction = static_cast<double>(bits & 1023), sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return bits & 1023 ? NAN : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

TEST(Conversions, WidenAllHalves) {
  Numbers halves = allNumbers();
  Numbers singles = apply("cvt.f32.f16 $d, $a;", 32, 16, {halves});
  Numbers doubles = apply("cvt.f64.f16 $d, $a;", 64, 16, {halves});
  for (size_t i = 0; i < halves.size(); ++i) {
    double value = valueOf(i);
    EXPECT_EQ(singles[i], std::isnan(value) ? kNanSingle : bitsOf(static_cast<float>(value))) << i;
    EXPECT_EQ(doubles[i], std::isnan(value) ? kNanDouble : bitsOf(value)) << i;
  }
}

TEST(Conversions, HalvesSurviveTheWayThere) {
  Numbers halves = allNumbers();
  Numbers back = apply("cvt.f32.f16 %f1, $a;\n\tcvt.rz.f16.f32 $d, %f1;", 16, 16, {halves});
  for (size_t i = 0; i < halves.size(); ++i)
    EXPECT_EQ(back[i], std::isnan(valueOf(i)) ? kNanHalf : i);
}

/// A number between a half (or bf16) and the next one, with the results of .rn, .rz, .rm and .rp.
struct Between {
  uint64_t number; // a float
  uint64_t results[4];
};

/// Positive and negative numbers at, right after, right before and halfway between neighbours,
/// given the bits of a float for those of a number.
template <typename ToSingle>
static std::vector<Between> between(uint64_t first, uint64_t last, uint64_t step,
                                    ToSingle toSingle) {
  std::vector<Between> all;
  for (uint64_t low = first; low < last; low += step) {
    uint64_t high = low + 1, a = toSingle(low), b = toSingle(high);
    uint64_t middle = bitsOf(floatOf(a) + (floatOf(b) - floatOf(a)) / 2);
    auto add = [&](uint64_t number, uint64_t nearest, bool isExact) {
      uint64_t up = isExact ? low : high;
      all.push_back({number, {nearest, low, low, up}});
      constexpr uint64_t sign = 0x80000000, halfSign = 0x8000;
      all.push_back(
          {number | sign, {nearest | halfSign, low | halfSign, up | halfSign, low | halfSign}});
    };
    add(a, low, true);
    add(a + 1, low, false);
    add(middle - 1, low, false);
    add(middle, low & 1 ? high : low, false);
    add(middle + 1, high, false);
    add(b - 1, high, false);
  }
  return all;
}

static void expectRoundings(const std::vector<Between> &all, const std::string &type, int modes) {
  Numbers numbers;
  for (const Between &number : all)
    numbers.push_back(number.number);
  const char *names[] = {"rn", "rz", "rm", "rp"};
  for (int mode = 0; mode < modes; ++mode) {
    std::string code = std::string("cvt.") + names[mode] + "." + type + ".f32 $d, $a;";
    Numbers results = apply(code, 16, 32, {numbers});
    for (size_t i = 0; i < results.size(); ++i)
      ASSERT_EQ(results[i], all[i].results[mode]) << code << " of " << numbers[i];
  }
}

TEST(Conversions, RoundToHalves) {
  auto toSingle = [](uint64_t bits) { return bitsOf(static_cast<float>(valueOf(bits))); };
  expectRoundings(between(0, 0x7bff, 3, toSingle), "f16", 4);
}

TEST(Conversions, RoundToBrainFloats) {
  auto toSingle = [](uint64_t bits) { return bits << 16; };
  expectRoundings(between(1, 0x7f7f, 3, toSingle), "bf16", 2);
}

static uint64_t one(const std::string &code, int resultBits, int bits, uint64_t a) {
  return apply(code, resultBits, bits, {{a}})[0];
}

TEST(Conversions, OverflowOfHalves) {
  uint64_t large = bitsOf(65520.0f); // halfway to the number after the largest one
  EXPECT_EQ(one("cvt.rn.f16.f32 $d, $a;", 16, 32, large - 1), 0x7bffu);
  EXPECT_EQ(one("cvt.rn.f16.f32 $d, $a;", 16, 32, large), 0x7c00u);
  EXPECT_EQ(one("cvt.rz.f16.f32 $d, $a;", 16, 32, 0x7f7fffff), 0x7bffu);
  EXPECT_EQ(one("cvt.rm.f16.f32 $d, $a;", 16, 32, 0xff7fffff), 0xfc00u);
  EXPECT_EQ(one("cvt.rp.f16.f32 $d, $a;", 16, 32, 1), 1u);
  EXPECT_EQ(one("cvt.rn.relu.f16.f32 $d, $a;", 16, 32, bitsOf(-2.0f)), 0u);
  EXPECT_EQ(one("cvt.rn.sat.f16.f32 $d, $a;", 16, 32, bitsOf(3.0f)), 0x3c00u);
}

TEST(Conversions, PackPairs) {
  std::vector<Numbers> ab = {{bitsOf(1.0f)}, {bitsOf(-2.0f)}};
  EXPECT_EQ(apply("cvt.rn.f16x2.f32 $d, $a, $b;", 32, 32, ab)[0], 0x3c00c000u);
  EXPECT_EQ(apply("cvt.rn.relu.bf16x2.f32 $d, $a, $b;", 32, 32, ab)[0], 0x3f800000u);
}

TEST(Conversions, RoundToTensorFloats) {
  EXPECT_EQ(one("cvt.rna.tf32.f32 $d, $a;", 32, 32, 0x3f800fff), 0x3f800000u);
  EXPECT_EQ(one("cvt.rna.tf32.f32 $d, $a;", 32, 32, 0x3f801000), 0x3f802000u); // a tie: away
  EXPECT_EQ(one("cvt.rna.tf32.f32 $d, $a;", 32, 32, 0xbf801000), 0xbf802000u);
}

TEST(Conversions, RoundToIntegers) {
  struct Case {
    float number;
    int32_t results[4]; // .rni, .rzi, .rmi, .rpi
  };
  const Case cases[] = {{2.5f, {2, 2, 2, 3}},
                        {3.5f, {4, 3, 3, 4}},
                        {-2.5f, {-2, -2, -3, -2}},
                        {-0.25f, {0, 0, -1, 0}},
                        {1e10f, {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}},
                        {-1e10f, {INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN}},
                        {NAN, {0, 0, 0, 0}}};
  const char *modes[] = {"rni", "rzi", "rmi", "rpi"};
  for (const Case &c : cases)
    for (int mode = 0; mode < 4; ++mode) {
      std::string code = std::string("cvt.") + modes[mode] + ".s32.f32 $d, $a;";
      EXPECT_EQ(one(code, 32, 32, bitsOf(c.number)), static_cast<uint32_t>(c.results[mode]))
          << code << c.number;
      // The same numbers as floats.
      if (std::fabs(c.number) > 1e9f || std::isnan(c.number))
        continue;
      code = std::string("cvt.") + modes[mode] + ".f32.f32 $d, $a;";
      EXPECT_EQ(one(code, 32, 32, bitsOf(c.number)) & 0x7fffffff,
                bitsOf(std::fabs(static_cast<float>(c.results[mode]))));
    }
  EXPECT_EQ(one("cvt.rzi.u8.f32 $d, $a;", 32, 32, bitsOf(300.0f)), 255u);
  EXPECT_EQ(one("cvt.rzi.s8.f32 $d, $a;", 32, 32, bitsOf(-3.0f)), 0xfffffffdu);
  EXPECT_EQ(one("cvt.rzi.u32.f32 $d, $a;", 32, 32, bitsOf(-3.0f)), 0u);
  EXPECT_EQ(one("cvt.rzi.u64.f64 $d, $a;", 64, 64, bitsOf(0x1p64)), ~uint64_t(0));
  EXPECT_EQ(one("cvt.rzi.s64.f64 $d, $a;", 64, 64, bitsOf(-0x1p70)), uint64_t(1) << 63);
  EXPECT_EQ(one("cvt.rzi.ftz.u32.f32 $d, $a;", 32, 32, 1), 0u);
}

TEST(Conversions, RoundIntegersToFloats) {
  // 2^24 + 1 and 2^24 + 3 are halfway between floats.
  const char *modes[] = {"rn", "rz", "rm", "rp"};
  const uint64_t results[] = {0x4b800000, 0x4b800000, 0x4b800000, 0x4b800001};
  for (int mode = 0; mode < 4; ++mode)
    EXPECT_EQ(one(std::string("cvt.") + modes[mode] + ".f32.u32 $d, $a;", 32, 32, (1 << 24) + 1),
              results[mode]);
  EXPECT_EQ(one("cvt.rn.f32.s32 $d, $a;", 32, 32, (1 << 24) + 3), 0x4b800002u);
  EXPECT_EQ(one("cvt.rn.f32.s32 $d, $a;", 32, 32, 0xffffffff), bitsOf(-1.0f));
  EXPECT_EQ(one("cvt.rn.f64.u64 $d, $a;", 64, 64, ~uint64_t(0)), bitsOf(0x1p64));
  EXPECT_EQ(one("cvt.rz.f64.u64 $d, $a;", 64, 64, ~uint64_t(0)), bitsOf(0x1p64) - 1);
  EXPECT_EQ(one("cvt.rn.f32.s64 $d, $a;", 32, 64, uint64_t(1) << 63), bitsOf(-0x1p63f));
  EXPECT_EQ(one("cvt.rn.f16.u32 $d, $a;", 16, 32, 100000), 0x7c00u);
  EXPECT_EQ(one("cvt.rn.f32.u8 $d, $a;", 32, 32, 0x1ff), bitsOf(255.0f));
}

TEST(Conversions, ChangeTheSizeOfIntegers) {
  EXPECT_EQ(one("cvt.s32.s8 $d, $a;", 32, 32, 0x1fe), 0xfffffffeu);
  EXPECT_EQ(one("cvt.u32.u8 $d, $a;", 32, 32, 0x1fe), 0xfeu);
  EXPECT_EQ(one("cvt.s8.s32 $d, $a;", 32, 32, 0x1fe), 0xfffffffeu); // extended to the register
  EXPECT_EQ(one("cvt.u64.s32 $d, $a;", 64, 32, 0xfffffffe), 0xfffffffffffffffeu);
  EXPECT_EQ(one("cvt.s64.u32 $d, $a;", 64, 32, 0xfffffffe), 0xfffffffeu);
  EXPECT_EQ(one("cvt.sat.u8.s32 $d, $a;", 32, 32, 0xfffffff0), 0u);
  EXPECT_EQ(one("cvt.sat.u8.s32 $d, $a;", 32, 32, 300), 255u);
  EXPECT_EQ(one("cvt.sat.s16.s32 $d, $a;", 32, 32, uint32_t(-70000)), 0xffff8000u);
  EXPECT_EQ(one("cvt.sat.s32.u64 $d, $a;", 32, 64, ~uint64_t(0)), 0x7fffffffu);
  EXPECT_EQ(one("cvt.sat.u64.s64 $d, $a;", 64, 64, ~uint64_t(0)), 0u);
}

TEST(Conversions, NarrowDoubles) {
  EXPECT_EQ(one("cvt.rn.f32.f64 $d, $a;", 32, 64, bitsOf(0.1)), bitsOf(0.1f));
  EXPECT_EQ(one("cvt.rm.f32.f64 $d, $a;", 32, 64, bitsOf(1 - 0x1p-40)), bitsOf(1.0f) - 1);
  EXPECT_EQ(one("cvt.rp.f32.f64 $d, $a;", 32, 64, bitsOf(1e-300)), 1u);
  EXPECT_EQ(one("cvt.rn.ftz.f32.f64 $d, $a;", 32, 64, bitsOf(1e-40)), 0u);
  EXPECT_EQ(one("cvt.f64.f32 $d, $a;", 64, 32, 1), bitsOf(0x1p-149));
}

TEST(Conversions, RefuseOtherRoundings) {
  auto refusal = [](const std::string &name, const std::string &operands) {
    EXPECT_EQ(refusalOf("\n\t" + name + operands), "line 20: unknown instruction '" + name + "'");
  };
  refusal("cvt.s32.f32", " %r1, %f1;");
  refusal("cvt.rn.s32.f32", " %r1, %f1;");
  refusal("cvt.f32.s32", " %f1, %r1;");
  refusal("cvt.f32.f64", " %f1, %fd1;");
  refusal("cvt.rn.f64.f32", " %fd1, %f1;");
  refusal("cvt.rn.u32.u16", " %r1, %h1;");
  refusal("cvt.ftz.f64.f16", " %fd1, %h1;");
  refusal("cvt.sat.u32.u8", " %r1, %h1;");
  refusal("cvt.rm.f16x2.f32", " %r1, %f1, %f2;");
}
