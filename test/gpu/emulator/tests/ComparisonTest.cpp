//===- ComparisonTest.cpp - Comparison and selection ----------------------===//
//
// Compares numbers of each kind, NaN among them, and combines the results with predicates.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/tests/Kernel.h"
#include <cmath>

using namespace tfc::gpu;
using namespace tfc::gpu::test;

/// The results of a comparison for three pairs: smaller, equal, greater.
static std::string compare(const std::string &op, const std::string &type, int bits, uint64_t low,
                           uint64_t high) {
  std::string operands = bits == 16 ? " $a, $b;" : " $a, $b;";
  Numbers results =
      apply("setp." + op + "." + type + " %p1," + operands + "\n\tselp.u32 $d, 1, 0, %p1;", 32,
            bits, {{low, low, high}, {high, low, low}});
  std::string text;
  for (uint64_t result : results)
    text += result ? '1' : '0';
  return text;
}

TEST(Comparisons, OrderIntegers) {
  struct Case {
    const char *op, *results;
  };
  for (Case c : {Case{"eq", "010"},
                 {"ne", "101"},
                 {"lt", "100"},
                 {"le", "110"},
                 {"gt", "001"},
                 {"ge", "011"}}) {
    EXPECT_EQ(compare(c.op, "u32", 32, 1, 0xffffffff), c.results);
    EXPECT_EQ(compare(c.op, "s32", 32, 0xffffffff, 1), c.results);
    EXPECT_EQ(compare(c.op, "u16", 16, 1, 0xffff), c.results);
    EXPECT_EQ(compare(c.op, "s64", 64, ~uint64_t(0), 1), c.results);
    EXPECT_EQ(compare(c.op, "f32", 32, bitsOf(-1.0f), bitsOf(0.5f)), c.results);
    EXPECT_EQ(compare(c.op, "f64", 64, bitsOf(-1.0), bitsOf(0.5)), c.results);
    EXPECT_EQ(compare(c.op, "f16", 16, 0xbc00, 0x3800), c.results);
  }
  EXPECT_EQ(compare("lo", "u32", 32, 1, 2), "100");
  EXPECT_EQ(compare("ls", "u32", 32, 1, 2), "110");
  EXPECT_EQ(compare("hi", "u64", 64, 1, 2), "001");
  EXPECT_EQ(compare("hs", "u16", 16, 1, 2), "011");
}

TEST(Comparisons, KnowNan) {
  uint64_t nan = 0x7fc00000, one = bitsOf(1.0f);
  for (const char *op : {"eq", "ne", "lt", "le", "gt", "ge", "num"})
    EXPECT_EQ(compare(op, "f32", 32, nan, one), std::string(op) == "num" ? "000" : "000") << op;
  for (const char *op : {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"})
    EXPECT_EQ(compare(op, "f32", 32, nan, one), "111") << op;
  EXPECT_EQ(compare("num", "f32", 32, one, one + 1), "111");
  EXPECT_EQ(compare("nan", "f32", 32, one, one + 1), "000");
  EXPECT_EQ(compare("equ", "f32", 32, 0, 0x80000000), "111");
  EXPECT_EQ(compare("eq.ftz", "f32", 32, 1, 2), "111");
  EXPECT_EQ(compare("eq.ftz", "f16", 16, 1, 2), "111");
}

TEST(Comparisons, CombineWithAPredicate) {
  // p and q for the four values of the comparison and of c.
  for (std::string op : {"and", "or", "xor"}) {
    Numbers results = apply("setp.ne.u32 %p3, $b, 0;\n\tsetp.eq." + op +
                                ".u32 %p1|%p2, $a, 1, !%p3;\n\tselp.u32 %r16, 1, 0, %p1;\n\t"
                                "selp.u32 %r17, 2, 0, %p2;\n\tor.b32 $d, %r16, %r17;",
                            32, 32, {{0, 0, 1, 1}, {0, 1, 0, 1}});
    for (int i = 0; i < 4; ++i) {
      bool holds = i / 2, c = !(i % 2);
      auto with = [&](bool a) { return op == "and" ? a && c : op == "or" ? a || c : a != c; };
      EXPECT_EQ(results[i], uint64_t(with(holds)) | uint64_t(with(!holds)) << 1) << op << i;
    }
  }
}

TEST(Comparisons, SetNumbers) {
  EXPECT_EQ(apply("set.lt.u32.f32 $d, $a, $b;", 32, 32, {{0, bitsOf(1.0f)}, {bitsOf(1.0f), 0}}),
            (Numbers{0xffffffff, 0}));
  EXPECT_EQ(apply("set.ge.f32.s32 $d, $a, $b;", 32, 32, {{5, uint32_t(-5)}, {0, 0}}),
            (Numbers{bitsOf(1.0f), 0}));
}

TEST(Comparisons, ComparePairsOfHalves) {
  Numbers results = apply("setp.lt.f16x2 %p1|%p2, $a, $b;\n\tselp.u32 %r16, 1, 0, %p1;\n\t"
                          "selp.u32 %r17, 2, 0, %p2;\n\tor.b32 $d, %r16, %r17;",
                          32, 32, {{0x3c000000, 0x00003c00, 0}, {0x00003c00, 0x3c000000, 0}});
  EXPECT_EQ(results, (Numbers{1, 2, 0}));
}

TEST(Comparisons, SelectBySignAndPredicate) {
  EXPECT_EQ(apply("slct.u32.s32 $d, $a, $b, $c;", 32, 32, {{1, 1}, {2, 2}, {0, 0xffffffff}}),
            (Numbers{1, 2}));
  EXPECT_EQ(apply("slct.b32.f32 $d, $a, $b, $c;", 32, 32,
                  {{1, 1, 1}, {2, 2, 2}, {0x80000000, 0x80000001, 0x7fc00000}}),
            (Numbers{1, 2, 2}));
  EXPECT_EQ(apply("slct.ftz.b32.f32 $d, $a, $b, $c;", 32, 32, {{1}, {2}, {0x80000001}}),
            (Numbers{1}));
  EXPECT_EQ(apply("setp.gt.u32 %p1, $a, 3;\n\tand.pred %p2, %p1, %p1;\n\tnot.pred %p2, %p2;\n\t"
                  "xor.pred %p2, %p1, %p2;\n\t@!%p1 mov.pred %p2, 0;\n\tselp.b32 $d, $a, 9, %p2;",
                  32, 32, {{3, 4}}),
            (Numbers{9, 4}));
}

TEST(Comparisons, RefuseOtherForms) {
  EXPECT_EQ(refusalOf("\n\tsetp.lt.b32 %p1, %r1, %r2;"),
            "line 20: unknown instruction 'setp.lt.b32'");
  EXPECT_EQ(refusalOf("\n\tsetp.lo.s32 %p1, %r1, %r2;"),
            "line 20: unknown instruction 'setp.lo.s32'");
  EXPECT_EQ(refusalOf("\n\tsetp.equ.u32 %p1, %r1, %r2;"),
            "line 20: unknown instruction 'setp.equ.u32'");
  EXPECT_EQ(refusalOf("\n\tsetp.eq.ftz.u32 %p1, %r1, %r2;"),
            "line 20: unknown instruction 'setp.eq.ftz.u32'");
  EXPECT_EQ(refusalOf("\n\tsetp.eq.u32 %r1, %r1, %r2;"),
            "line 20: expected a register for a result of type pred, but got '%r1'");
}
