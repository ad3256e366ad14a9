//===- ApproximateTest.cpp - Approximations with an error -----------------===//
//
// Tests that results stay within the documented errors, differ from the nearest number, and depend
// on the seed.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/tests/Kernel.h"
#include <cmath>
#include <random>

using namespace tfc::gpu;
using namespace tfc::gpu::test;

static Numbers randomFloats(float low, float high) {
  std::minstd_rand engine(1);
  std::uniform_real_distribution<float> distribution(low, high);
  Numbers numbers;
  for (int i = 0; i < 3000; ++i)
    numbers.push_back(bitsOf(distribution(engine)));
  return numbers;
}

static void expectError(const std::string &name, double (*function)(double), float low, float high,
                        double relative, double absolute) {
  Numbers numbers = randomFloats(low, high);
  Numbers results = apply(name + ".approx.f32 $d, $a;", 32, 32, {numbers});
  int others = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    double exact = function(floatOf(static_cast<uint32_t>(numbers[i])));
    float result = floatOf(static_cast<uint32_t>(results[i]));
    EXPECT_LE(std::fabs(result - exact), relative * std::fabs(exact) + absolute) << name;
    others += result != static_cast<float>(exact);
  }
  EXPECT_GT(others, 100) << name;
}

TEST(Approximations, StayWithinTheirError) {
  expectError("rcp", [](double x) { return 1 / x; }, 0.1f, 9, 0x1p-23, 0);
  expectError("sqrt", [](double x) { return std::sqrt(x); }, 0, 9, 0x1p-23, 0);
  expectError("rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.01f, 9, std::exp2(-22.9), 0);
  expectError("sin", [](double x) { return std::sin(x); }, -6, 6, 0, std::exp2(-20.5));
  expectError("cos", [](double x) { return std::cos(x); }, -6, 6, 0, std::exp2(-20.5));
  expectError("lg2", [](double x) { return std::log2(x); }, 0.5f, 2, 0, std::exp2(-22.6));
  expectError("lg2", [](double x) { return std::log2(x); }, 2, 900, std::exp2(-22.6), 0);
  expectError("ex2", [](double x) { return std::exp2(x); }, -9, 9, 0x1p-22, 0);
  expectError("tanh", [](double x) { return std::tanh(x); }, -3, 3, 0x1p-11, 0);
}

static uint64_t one(const std::string &code, uint64_t a, uint64_t b = 0) {
  return apply(code, 32, 32, {{a}, {b}})[0];
}

TEST(Approximations, KeepExactValues) {
  constexpr uint64_t kInfinity = 0x7f800000, kMinusZero = 0x80000000, kOne = 0x3f800000;
  EXPECT_EQ(one("ex2.approx.f32 $d, $a;", 0), kOne);
  EXPECT_EQ(one("ex2.approx.f32 $d, $a;", 0xff800000), 0u);
  EXPECT_EQ(one("ex2.approx.f32 $d, $a;", bitsOf(200.0f)), kInfinity);
  EXPECT_EQ(one("cos.approx.f32 $d, $a;", kMinusZero), kOne);
  EXPECT_EQ(one("sin.approx.f32 $d, $a;", kMinusZero), kMinusZero);
  EXPECT_EQ(one("sin.approx.f32 $d, $a;", kInfinity), kNanSingle);
  EXPECT_EQ(one("lg2.approx.f32 $d, $a;", kMinusZero), 0xff800000);
  EXPECT_EQ(one("lg2.approx.f32 $d, $a;", 0xbf800000), kNanSingle);
  EXPECT_EQ(one("rcp.approx.f32 $d, $a;", kMinusZero), 0xff800000);
  EXPECT_EQ(one("rsqrt.approx.f32 $d, $a;", kMinusZero), 0xff800000);
  EXPECT_EQ(one("sqrt.approx.f32 $d, $a;", kMinusZero), kMinusZero);
  EXPECT_EQ(one("rcp.approx.ftz.f32 $d, $a;", 1), kInfinity);
  EXPECT_EQ(one("tanh.approx.f32 $d, $a;", kInfinity), kOne);
}

TEST(Approximations, DivideWithTwoPlaces) {
  Numbers a = randomFloats(1, 100), b = a;
  std::reverse(b.begin(), b.end());
  Numbers quotients = apply("div.full.f32 $d, $a, $b;", 32, 32, {a, b});
  for (size_t i = 0; i < a.size(); ++i) {
    double exact =
        double(floatOf(static_cast<uint32_t>(a[i]))) / floatOf(static_cast<uint32_t>(b[i]));
    EXPECT_LE(std::fabs(floatOf(static_cast<uint32_t>(quotients[i])) - exact), exact * 0x1p-22);
  }
  // Above 2^126 the approximate form gives 0, the full one does not.
  EXPECT_EQ(one("div.approx.f32 $d, $a, $b;", bitsOf(0x1p127f), bitsOf(0x1p127f)), 0u);
  EXPECT_NE(one("div.full.f32 $d, $a, $b;", bitsOf(0x1p127f), bitsOf(0x1p127f)), 0u);
  EXPECT_EQ(one("div.approx.f32 $d, $a, $b;", 0x7f800000, bitsOf(0x1p127f)), kNanSingle);
}

TEST(Approximations, OfHalves) {
  Numbers halves;
  for (uint64_t bits = 0; bits < 0x4000; bits += 7)
    halves.push_back(bits);
  Numbers powers = apply("ex2.approx.f16 $d, $a;", 16, 16, {halves});
  Numbers tangents = apply("tanh.approx.f16 $d, $a;", 16, 16, {halves});
  for (size_t i = 0; i < halves.size(); ++i) {
    double x = halfToFloat(static_cast<uint16_t>(halves[i])), power = std::exp2(x);
    EXPECT_LE(std::fabs(halfToFloat(static_cast<uint16_t>(powers[i])) - power),
              power * std::exp2(-9.9));
    EXPECT_LE(std::fabs(halfToFloat(static_cast<uint16_t>(tangents[i])) - std::tanh(x)),
              std::exp2(-10.987));
  }
  EXPECT_EQ(apply("ex2.approx.f16x2 $d, $a;", 32, 32, {{0x00008000}})[0], 0x3c003c00u);
}

TEST(Approximations, DependOnTheSeedAlone) {
  auto results = [](uint64_t seed) {
    Device device;
    device.loadBody("\n\tld.global.f32 %f1, [%rd1];\n\tcvt.rn.f32.u32 %f2, %r0;\n"
                    "\tadd.f32 %f1, %f1, %f2;\n\tsin.approx.f32 %f1, %f1;\n"
                    "\tst.global.f32 [%rd2], %f1;");
    device.shape.block.x = 3;
    device.shape.seed = seed;
    std::vector<float> out(3), in = {1.5f};
    EXPECT_EQ(device.run(out, in), "");
    return out;
  };
  EXPECT_EQ(results(1), results(1));
  EXPECT_NE(results(1), results(2));
}
