//===- FloatTest.cpp - Arithmetic of floats and halves --------------------===//
//
// Compares results with exact ones in 113 bits, rounded here by comparison with their neighbours.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/tests/Kernel.h"
#include <cmath>
#include <functional>
#include <random>

using namespace tfc::gpu;
using namespace tfc::gpu::test;

using Exact = __float128;
using Formula = std::function<Exact(Exact, Exact, Exact)>;

static const char *const kModes[] = {"rn", "rz", "rm", "rp"};

/// Floats whose sums and products are exact in 113 bits.
static Numbers randomFloats(uint32_t seed, int count) {
  std::minstd_rand engine(seed);
  Numbers numbers;
  for (int i = 0; i < count; ++i) {
    uint32_t exponent = 127 - 12 + engine() % 24, fraction = engine() % (1u << 23);
    numbers.push_back((engine() % 2) << 31 | exponent << 23 | fraction);
  }
  return numbers;
}

/// The float next to an exact number in a direction.
static float rounded(Exact exact, const std::string &mode) {
  auto nearest = static_cast<float>(exact); // of the compiler's library, to nearest even
  if (mode == "rn" || nearest == exact)
    return nearest;
  bool isUp = mode == "rp" || (mode == "rz" && exact < 0);
  if (isUp)
    return nearest < exact ? std::nextafter(nearest, INFINITY) : nearest;
  return nearest > exact ? std::nextafter(nearest, -INFINITY) : nearest;
}

static void expect(const std::string &name, unsigned count, const Formula &formula) {
  std::vector<Numbers> operands;
  for (unsigned i = 0; i < count; ++i)
    operands.push_back(randomFloats(i + 1, 3000));
  const char *lists[] = {"", " $d, $a;", " $d, $a, $b;", " $d, $a, $b, $c;"};
  for (const char *mode : kModes) {
    std::string code = name + "." + mode + ".f32" + lists[count];
    Numbers results = apply(code, 32, 32, operands);
    for (size_t i = 0; i < results.size(); ++i) {
      auto at = [&](size_t k) {
        return k < count ? Exact(floatOf(static_cast<uint32_t>(operands[k][i]))) : Exact(0);
      };
      Exact exact = formula(at(0), at(1), at(2));
      ASSERT_EQ(results[i], bitsOf(rounded(exact, mode))) << code << " " << i;
    }
  }
}

TEST(Floats, RoundInEachDirection) {
  expect("add", 2, [](Exact a, Exact b, Exact) { return a + b; });
  expect("sub", 2, [](Exact a, Exact b, Exact) { return a - b; });
  expect("mul", 2, [](Exact a, Exact b, Exact) { return a * b; });
  expect("fma", 3, [](Exact a, Exact b, Exact c) { return a * b + c; });
  // Quotients of 24 bits differ from floats and their midpoints by more than 2^-113.
  expect("div", 2, [](Exact a, Exact b, Exact) { return a / b; });
  expect("rcp", 1, [](Exact a, Exact, Exact) { return 1 / a; });
}

TEST(Floats, TakeRootsInEachDirection) {
  Numbers numbers = randomFloats(5, 2000);
  for (uint64_t &number : numbers)
    number &= 0x7fffffff;
  for (std::string mode : kModes) {
    Numbers roots = apply("sqrt." + mode + ".f32 $d, $a;", 32, 32, {numbers});
    for (size_t i = 0; i < roots.size(); ++i) {
      Exact a = floatOf(static_cast<uint32_t>(numbers[i]));
      float root = floatOf(static_cast<uint32_t>(roots[i]));
      Exact below = std::nextafter(root, 0.0f), above = std::nextafter(root, INFINITY), r = root;
      if (mode == "rz" || mode == "rm")
        EXPECT_TRUE(r * r <= a && above * above > a);
      else if (mode == "rp")
        EXPECT_TRUE(r * r >= a && below * below < a);
      else
        EXPECT_TRUE((r + below) * (r + below) / 4 < a && a < (r + above) * (r + above) / 4);
    }
  }
}

/// The result of an instruction for one set of operands.
static uint64_t one(const std::string &code, int bits, std::vector<uint64_t> operands) {
  std::vector<Numbers> all;
  for (uint64_t operand : operands)
    all.push_back({operand});
  return apply(code, bits, bits, all)[0];
}

TEST(Floats, OverflowAndUnderflowAsTheRoundingSays) {
  constexpr uint64_t kMax = 0x7f7fffff, kInfinity = 0x7f800000, kMin = 1;
  auto sum = [&](const std::string &mode) {
    return one("add." + mode + ".f32 $d, $a, $b;", 32, {kMax, kMax});
  };
  EXPECT_EQ(sum("rn"), kInfinity);
  EXPECT_EQ(sum("rz"), kMax);
  EXPECT_EQ(sum("rm"), kMax);
  EXPECT_EQ(sum("rp"), kInfinity);
  auto square = [&](const std::string &mode) {
    return one("mul." + mode + ".f32 $d, $a, $b;", 32, {kMin, kMin});
  };
  EXPECT_EQ(square("rn"), 0u);
  EXPECT_EQ(square("rp"), kMin);
  EXPECT_EQ(one("sub.rm.f32 $d, $a, $b;", 32, {0x3f800000, 0x3f800000}), 0x80000000);
}

TEST(Floats, FlushDenormalNumbers) {
  EXPECT_EQ(one("add.f32 $d, $a, $b;", 32, {1, 2}), 3u);
  EXPECT_EQ(one("add.ftz.f32 $d, $a, $b;", 32, {1, 2}), 0u);
  EXPECT_EQ(one("add.ftz.f32 $d, $a, $b;", 32, {0x80000001, 0x80000001}), 0x80000000);
  // The result of two normal numbers is flushed as well.
  EXPECT_EQ(one("mul.f32 $d, $a, $b;", 32, {0x00800000, 0x3f000000}), 0x00400000u);
  EXPECT_EQ(one("mul.ftz.f32 $d, $a, $b;", 32, {0x00800000, 0x3f000000}), 0u);
  EXPECT_EQ(one("abs.ftz.f32 $d, $a;", 32, {0x80000001}), 0u);
  EXPECT_EQ(one("add.f64 $d, $a, $b;", 64, {1, 2}), 3u);
}

TEST(Floats, HaveOneNan) {
  constexpr uint64_t kNan = 0x7fc12345, kInfinity = 0x7f800000, kMinusInfinity = 0xff800000;
  EXPECT_EQ(one("add.f32 $d, $a, $b;", 32, {kNan, 0}), kNanSingle);
  EXPECT_EQ(one("sub.f32 $d, $a, $b;", 32, {kInfinity, kInfinity}), kNanSingle);
  EXPECT_EQ(one("fma.rn.f32 $d, $a, $b, $c;", 32, {kInfinity, 0, 0}), kNanSingle);
  EXPECT_EQ(one("sqrt.rn.f32 $d, $a;", 32, {0xbf800000}), kNanSingle);
  EXPECT_EQ(one("sqrt.rn.f32 $d, $a;", 32, {0x80000000}), 0x80000000);
  EXPECT_EQ(one("min.f32 $d, $a, $b;", 32, {kNan, 0x40000000}), 0x40000000u);
  EXPECT_EQ(one("max.NaN.f32 $d, $a, $b;", 32, {kNan, 0x40000000}), kNanSingle);
  EXPECT_EQ(one("min.f32 $d, $a, $b;", 32, {kNan, kNan}), kNanSingle);
  EXPECT_EQ(one("min.f32 $d, $a, $b;", 32, {0, 0x80000000}), 0x80000000);
  EXPECT_EQ(one("max.f32 $d, $a, $b;", 32, {0x80000000, 0}), 0u);
  EXPECT_EQ(one("max.f32 $d, $a, $b;", 32, {kMinusInfinity, 0xc0000000}), 0xc0000000);
}

TEST(Floats, Saturate) {
  EXPECT_EQ(one("add.sat.f32 $d, $a, $b;", 32, {0x3f800000, 0x3f800000}), 0x3f800000u);
  EXPECT_EQ(one("mul.sat.f32 $d, $a, $b;", 32, {0xbf800000, 0x3f800000}), 0u);
  EXPECT_EQ(one("add.sat.f32 $d, $a, $b;", 32, {0x7fc00000, 0}), 0u);
  EXPECT_EQ(one("fma.rn.sat.f32 $d, $a, $b, $c;", 32, {0x3f000000, 0x3f000000, 0}), 0x3e800000u);
}

TEST(Floats, ChangeSignsAndTest) {
  EXPECT_EQ(one("neg.f32 $d, $a;", 32, {0}), 0x80000000);
  EXPECT_EQ(one("abs.f64 $d, $a;", 64, {0xbff0000000000000}), 0x3ff0000000000000u);
  EXPECT_EQ(one("copysign.f32 $d, $a, $b;", 32, {0x80000000, 0x40000000}), 0xc0000000);
  auto test = [](const std::string &kind, uint64_t a) {
    return one("testp." + kind + ".f32 %p1, $a;\n\tselp.u32 $d, 1, 0, %p1;", 32, {a});
  };
  EXPECT_EQ(test("finite", 0x7f7fffff), 1u);
  EXPECT_EQ(test("finite", 0x7f800000), 0u);
  EXPECT_EQ(test("infinite", 0xff800000), 1u);
  EXPECT_EQ(test("notanumber", 0x7f800001), 1u);
  EXPECT_EQ(test("number", 0x7f800001), 0u);
  EXPECT_EQ(test("normal", 0), 0u);
  EXPECT_EQ(test("normal", 0x00800000), 1u);
  EXPECT_EQ(test("subnormal", 0x80000001), 1u);
}

TEST(Floats, ComputeDoubles) {
  auto bits = [](double x) { return bitsOf(x); };
  EXPECT_EQ(one("add.rp.f64 $d, $a, $b;", 64, {bits(1), bits(1e-30)}), bits(1) + 1);
  EXPECT_EQ(one("add.rm.f64 $d, $a, $b;", 64, {bits(1), bits(1e-30)}), bits(1));
  EXPECT_EQ(one("div.rz.f64 $d, $a, $b;", 64, {bits(2), bits(3)}), bits(2.0 / 3) - 0);
  EXPECT_EQ(one("fma.rn.f64 $d, $a, $b, $c;", 64, {bits(0.1), bits(10), bits(-1)}),
            bits(std::fma(0.1, 10, -1)));
  EXPECT_EQ(one("sqrt.rn.f64 $d, $a;", 64, {bits(2)}), bits(std::sqrt(2.0)));
}

TEST(Floats, RefuseOtherForms) {
  EXPECT_EQ(refusalOf("\n\tfma.f32 %f1, %f2, %f3, %f4;"), "line 20: unknown instruction 'fma.f32'");
  EXPECT_EQ(refusalOf("\n\tadd.ftz.f64 %fd1, %fd2, %fd3;"),
            "line 20: unknown instruction 'add.ftz.f64'");
  EXPECT_EQ(refusalOf("\n\tdiv.f32 %f1, %f2, %f3;"), "line 20: unknown instruction 'div.f32'");
  EXPECT_EQ(refusalOf("\n\tadd.bf16 %h1, %h2, %h3;"), "line 20: unknown instruction 'add.bf16'");
  EXPECT_EQ(refusalOf("\n\tadd.f32 %f1, %f2, 1;"),
            "line 20: expected an operand of type f32, but got 1");
}

//===- Halves -------------------------------------------------------------===//

/// Random halves, and those at the edges.
static Numbers randomHalves(uint32_t seed) {
  std::minstd_rand engine(seed);
  Numbers numbers = {0, 0x8000, 1, 0x3ff, 0x400, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x3c00, 0x3bff};
  while (numbers.size() < 4000)
    numbers.push_back(engine() & 0xffff);
  return numbers;
}

static uint64_t halfBits(_Float16 value) {
  uint16_t bits;
  memcpy(&bits, &value, sizeof bits);
  return value != value ? kNanHalf : bits;
}

static _Float16 half(uint64_t bits) {
  auto low = static_cast<uint16_t>(bits);
  _Float16 value;
  memcpy(&value, &low, sizeof value);
  return value;
}

TEST(Halves, RoundOnce) {
  std::vector<Numbers> all = {randomHalves(1), randomHalves(2), randomHalves(3)};
  Numbers sums = apply("add.f16 $d, $a, $b;", 16, 16, {all[0], all[1]});
  Numbers products = apply("mul.rn.f16 $d, $a, $b;", 16, 16, {all[0], all[1]});
  Numbers fmas = apply("fma.rn.f16 $d, $a, $b, $c;", 16, 16, all);
  for (size_t i = 0; i < sums.size(); ++i) {
    Exact a = half(all[0][i]), b = half(all[1][i]), c = half(all[2][i]);
    EXPECT_EQ(sums[i], halfBits(static_cast<_Float16>(double(a + b)))) << i;
    EXPECT_EQ(products[i], halfBits(static_cast<_Float16>(double(a * b)))) << i;
    EXPECT_EQ(fmas[i], halfBits(static_cast<_Float16>(a * b + c))) << i;
  }
}

TEST(Halves, ComeInPairs) {
  Numbers a = randomHalves(1), b = randomHalves(2), pairsOfA, pairsOfB;
  for (size_t i = 0; i + 1 < a.size(); ++i) {
    pairsOfA.push_back(a[i] | a[i + 1] << 16);
    pairsOfB.push_back(b[i] | b[i + 1] << 16);
  }
  Numbers pairs = apply("add.f16x2 $d, $a, $b;", 32, 32, {pairsOfA, pairsOfB});
  Numbers single = apply("add.f16 $d, $a, $b;", 16, 16, {a, b});
  for (size_t i = 0; i < pairs.size(); ++i)
    EXPECT_EQ(pairs[i], single[i] | single[i + 1] << 16);
}

TEST(Halves, FlushSaturateAndSelect) {
  EXPECT_EQ(one("add.f16 $d, $a, $b;", 16, {1, 2}), 3u);
  EXPECT_EQ(one("add.ftz.f16 $d, $a, $b;", 16, {1, 0x8002}), 0u);
  EXPECT_EQ(one("mul.sat.f16 $d, $a, $b;", 16, {0x4000, 0x4000}), 0x3c00u);
  EXPECT_EQ(one("fma.rn.relu.f16 $d, $a, $b, $c;", 16, {0xbc00, 0x3c00, 0}), 0u);
  EXPECT_EQ(one("min.f16 $d, $a, $b;", 16, {0x7e00, 0x3c00}), 0x3c00u);
  EXPECT_EQ(one("max.NaN.f16 $d, $a, $b;", 16, {0x7e00, 0x3c00}), kNanHalf);
  EXPECT_EQ(one("neg.f16x2 $d, $a;", 32, {0x3c00bc00}), 0xbc003c00);
  EXPECT_EQ(one("abs.bf16x2 $d, $a;", 32, {0xbf803f80}), 0x3f803f80u);
  // 1 * 1 + 2^-8 is halfway between two numbers of bf16; the even one is 1.
  EXPECT_EQ(one("fma.rn.bf16 $d, $a, $b, $c;", 16, {0x3f80, 0x3f80, 0x3b80}), 0x3f80u);
  EXPECT_EQ(one("fma.rn.bf16 $d, $a, $b, $c;", 16, {0x3f80, 0x3f80, 0x3b81}), 0x3f81u);
  // The product decides, though it is far below the last place of the sum.
  EXPECT_EQ(one("fma.rn.bf16 $d, $a, $b, $c;", 16, {0x3b80, 0x3f80, 0x3f80}), 0x3f80u);
  EXPECT_EQ(one("max.bf16 $d, $a, $b;", 16, {0xbf80, 0x0001}), 1u);
}
