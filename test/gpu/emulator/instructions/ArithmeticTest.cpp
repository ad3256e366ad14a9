//===- ArithmeticTest.cpp - Instructions against their definitions --------===//
//
// Runs one instruction for a lane per case, and compares the results with what the PTX ISA says.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Machine.h"
#include "test/gpu/emulator/instructions/Half.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <gtest/gtest.h>

using namespace tfc::gpu;

static uint64_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }
static uint64_t bitsOf(double value) { return std::bit_cast<uint64_t>(value); }

static const std::string kTypes[] = {".b16", ".b32", ".b64"};

/// The results of instructions on %a, %b and %c, to %d: registers of given widths in bits. Each
/// lane has sources of its own; predicates %p and %q are false and true.
static std::vector<uint64_t> results(const std::string &instructions, int to,
                                     std::initializer_list<int> from,
                                     const std::vector<std::vector<uint64_t>> &sources) {
  std::string text = ".entry k(.param .u64 in, .param .u64 out) {\n"
                     ".reg .pred %p, %q, %r;\n.reg .b32 %t;\n.reg .b64 %in, %out, %at;\n";
  auto declare = [&](const std::string &name, int bits) {
    text += ".reg .b" + std::to_string(bits) + " " + name + ";\n";
  };
  declare("%d", to);
  const char *names[] = {"%a", "%b", "%c"};
  size_t count = 0;
  for (int bits : from)
    declare(names[count++], bits);
  text += "setp.ne.u32 %p, 0, 0;\nnot.pred %q, %p;\n"
          "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\n"
          "mad.wide.u32 %at, %t, " +
          std::to_string(8 * count) + ", %in;\nmad.wide.u32 %out, %t, 8, %out;\n";
  size_t i = 0;
  for (int bits : from) {
    text += "ld.global.b" + std::to_string(bits) + " " + names[i] + ", [%at+" +
            std::to_string(8 * i) + "];\n";
    ++i;
  }
  text += "st.global.b64 [%out], 0;\n" + instructions + "\nst.global.b" + std::to_string(to) +
          " [%out], %d;\nret;\n}\n";
  Machine machine;
  EXPECT_EQ(machine.load(text), "") << text;
  if (!machine.program)
    return {};
  std::vector<uint64_t> values;
  for (const std::vector<uint64_t> &lane : sources)
    values.insert(values.end(), lane.begin(), lane.end());
  uint64_t in = machine.copy(values), out = machine.allocate<uint64_t>(sources.size());
  EXPECT_EQ(machine.run({in, out}, {}, {static_cast<uint32_t>(sources.size())}), "");
  return machine.read<uint64_t>(out, sources.size());
}

using Values = std::vector<uint64_t>;
static constexpr uint64_t kMinus1 = 0xffffffff;

static Values unary32(const std::string &name, const Values &a) {
  std::vector<Values> sources;
  for (uint64_t value : a)
    sources.push_back({value});
  return results(name + " %d, %a;", 32, {32}, sources);
}

static Values binary32(const std::string &name, const std::vector<Values> &sources) {
  return results(name + " %d, %a, %b;", 32, {32, 32}, sources);
}

//===- Integers -----------------------------------------------------------===//

TEST(Integer, SumsWrapAround) {
  EXPECT_EQ(binary32("add.u32", {{kMinus1, 2}, {3, 4}}), (Values{1, 7}));
  EXPECT_EQ(binary32("sub.s32", {{1, 2}, {0x80000000, 1}}), (Values{kMinus1, 0x7fffffff}));
  EXPECT_EQ(binary32("add.sat.s32", {{0x7fffffff, 1}, {0x80000000, kMinus1}}),
            (Values{0x7fffffff, 0x80000000}));
  EXPECT_EQ(results("add.u16 %d, %a, %b;", 16, {16, 16}, {{0xffff, 2}}), Values{1});
  EXPECT_EQ(results("sub.u64 %d, %a, %b;", 64, {64, 64}, {{0, 1}}), Values{UINT64_MAX});
}

TEST(Integer, ProductsHaveHalves) {
  EXPECT_EQ(binary32("mul.lo.s32", {{kMinus1, 3}, {65536, 65537}}), (Values{uint32_t(-3), 65536}));
  EXPECT_EQ(binary32("mul.hi.u32", {{kMinus1, kMinus1}}), Values{0xfffffffe});
  EXPECT_EQ(binary32("mul.hi.s32", {{kMinus1, kMinus1}, {kMinus1, 1}}), (Values{0, kMinus1}));
  EXPECT_EQ(results("mul.wide.s32 %d, %a, %b;", 64, {32, 32}, {{kMinus1, 5}}),
            Values{uint64_t(-5)});
  EXPECT_EQ(results("mul.wide.u16 %d, %a, %b;", 32, {16, 16}, {{0xffff, 0xffff}}),
            Values{0xfffe0001});
  EXPECT_EQ(results("mul.hi.u64 %d, %a, %b;", 64, {64, 64}, {{UINT64_MAX, UINT64_MAX}}),
            Values{UINT64_MAX - 1});
  EXPECT_EQ(results("mad.lo.s32 %d, %a, %b, %c;", 32, {32, 32, 32}, {{3, 4, kMinus1}}), Values{11});
  EXPECT_EQ(results("mad.wide.s16 %d, %a, %b, %c;", 32, {16, 16, 32}, {{0xffff, 7, 1}}),
            Values{uint32_t(-6)});
}

TEST(Integer, QuotientsAreTruncated) {
  EXPECT_EQ(binary32("div.s32", {{uint32_t(-7), 2}, {7, uint32_t(-2)}}),
            (Values{uint32_t(-3), uint32_t(-3)}));
  EXPECT_EQ(binary32("rem.s32", {{uint32_t(-7), 2}, {7, uint32_t(-2)}}), (Values{kMinus1, 1}));
  EXPECT_EQ(binary32("div.s32", {{0x80000000, kMinus1}}), Values{0x80000000});
  EXPECT_EQ(results("div.s64 %d, %a, %b;", 64, {64, 64}, {{uint64_t(INT64_MIN), UINT64_MAX}}),
            Values{uint64_t(INT64_MIN)});
  EXPECT_EQ(binary32("div.u32", {{kMinus1, 2}}), Values{0x7fffffff});
}

TEST(Integer, SignsAndExtrema) {
  EXPECT_EQ(unary32("abs.s32", {uint32_t(-5), 0x80000000}), (Values{5, 0x80000000}));
  EXPECT_EQ(unary32("neg.s32", {5}), Values{uint32_t(-5)});
  EXPECT_EQ(binary32("min.s32", {{kMinus1, 1}}), Values{kMinus1});
  EXPECT_EQ(binary32("min.u32", {{kMinus1, 1}}), Values{1});
  EXPECT_EQ(binary32("max.s32", {{kMinus1, 1}}), Values{1});
  EXPECT_EQ(results("sad.s32 %d, %a, %b, %c;", 32, {32, 32, 32}, {{uint32_t(-3), 4, 10}}),
            Values{17});
}

TEST(Integer, ShiftsStopAtTheWidth) {
  EXPECT_EQ(binary32("shl.b32", {{1, 31}, {1, 32}, {1, kMinus1}}), (Values{0x80000000, 0, 0}));
  EXPECT_EQ(binary32("shr.u32", {{0x80000000, 31}, {0x80000000, 32}}), (Values{1, 0}));
  EXPECT_EQ(binary32("shr.s32", {{0x80000000, 31}, {0x80000000, 99}, {4, 99}}),
            (Values{kMinus1, kMinus1, 0}));
  EXPECT_EQ(results("shl.b64 %d, %a, %b;", 64, {64, 32}, {{1, 63}, {1, 64}}),
            (Values{uint64_t(1) << 63, 0}));
  EXPECT_EQ(results("shf.l.wrap.b32 %d, %a, %b, %c;", 32, {32, 32, 32},
                    {{0x80000000, 1, 1}, {0x80000000, 1, 33}}),
            (Values{3, 3}));
  EXPECT_EQ(results("shf.r.clamp.b32 %d, %a, %b, %c;", 32, {32, 32, 32}, {{7, 9, 32}, {7, 9, 40}}),
            (Values{9, 9}));
}

TEST(Integer, BitsAreFoundAndMoved) {
  EXPECT_EQ(unary32("popc.b32", {kMinus1, 5, 0}), (Values{32, 2, 0}));
  EXPECT_EQ(unary32("clz.b32", {1, 0, 0x80000000}), (Values{31, 32, 0}));
  EXPECT_EQ(unary32("brev.b32", {1, 0xf0000000}), (Values{0x80000000, 15}));
  EXPECT_EQ(unary32("bfind.u32", {0, 0x10, kMinus1}), (Values{kMinus1, 4, 31}));
  EXPECT_EQ(unary32("bfind.s32", {kMinus1, uint32_t(-9)}), (Values{kMinus1, 3}));
  EXPECT_EQ(unary32("bfind.shiftamt.u32", {0x10}), Values{27});
  EXPECT_EQ(unary32("not.b32", {0xff}), Values{0xffffff00});
  EXPECT_EQ(unary32("cnot.b32", {0, 7}), (Values{1, 0}));
  EXPECT_EQ(results("bfe.u32 %d, %a, %b, %c;", 32, {32, 32, 32}, {{0xabcd1234, 8, 8}}),
            Values{0x12});
  EXPECT_EQ(results("bfe.s32 %d, %a, %b, %c;", 32, {32, 32, 32},
                    {{0x0000f000, 12, 4}, {0x80000000, 28, 8}, {5, 0, 0}}),
            (Values{kMinus1, 0xfffffff8, 0}));
  EXPECT_EQ(results("bfi.b32 %d, %a, 0xffffffff, %b, %c;", 32, {32, 32, 32}, {{0, 4, 8}}),
            Values{0xfffff00f});
  EXPECT_EQ(results("prmt.b32 %d, %a, %b, %c;", 32, {32, 32, 32},
                    {{0x33221100, 0x77665544, 0x7531}, {0x80, 0, 0x8888}}),
            (Values{0x77553311, kMinus1}));
  // 0x96 is a ^ b ^ c, 0xe8 is the majority.
  EXPECT_EQ(results("lop3.b32 %d, %a, %b, %c, 0x96;", 32, {32, 32, 32}, {{12, 10, 9}}),
            Values{12 ^ 10 ^ 9});
  EXPECT_EQ(results("lop3.b32 %d, %a, %b, %c, 0xe8;", 32, {32, 32, 32}, {{12, 10, 9}}), Values{8});
}

//===- Floats -------------------------------------------------------------===//

static const float kLeast = 0x1p-149f, kInf = HUGE_VALF;

TEST(Float, RoundsAsAsked) {
  std::vector<Values> thirds = {{bitsOf(1.0f), bitsOf(3.0f)}, {bitsOf(-1.0f), bitsOf(3.0f)}};
  const float down = 0x1.555554p-2f, up = 0x1.555556p-2f;
  EXPECT_EQ(binary32("div.rn.f32", thirds), (Values{bitsOf(up), bitsOf(-up)}));
  EXPECT_EQ(binary32("div.rz.f32", thirds), (Values{bitsOf(down), bitsOf(-down)}));
  EXPECT_EQ(binary32("div.rm.f32", thirds), (Values{bitsOf(down), bitsOf(-up)}));
  EXPECT_EQ(binary32("div.rp.f32", thirds), (Values{bitsOf(up), bitsOf(-down)}));
  EXPECT_EQ(results("add.rz.f64 %d, %a, %b;", 64, {64, 64}, {{bitsOf(1.0), bitsOf(0x1.8p-53)}}),
            Values{bitsOf(1.0)});
  EXPECT_EQ(results("sqrt.rp.f32 %d, %a;", 32, {32}, {{bitsOf(2.0f)}}),
            Values{bitsOf(0x1.6a09e8p0f)});
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(Float, FusedSumsRoundOnce) {
  std::vector<Values> sources = {{bitsOf(1 + 0x1p-12f), bitsOf(1 + 0x1p-12f), bitsOf(-1.0f)}};
  EXPECT_EQ(results("fma.rn.f32 %d, %a, %b, %c;", 32, {32, 32, 32}, sources),
            Values{bitsOf(0x1p-11f + 0x1p-24f)});
  EXPECT_EQ(results("mul.f32 %d, %a, %b;\nadd.f32 %d, %d, %c;", 32, {32, 32, 32}, sources),
            Values{bitsOf(0x1p-11f)});
}

TEST(Float, FlushesDenormalsOnlyWhenAsked) {
  std::vector<Values> sources = {{bitsOf(kLeast), bitsOf(1.0f)}, {bitsOf(-kLeast), bitsOf(1.0f)}};
  EXPECT_EQ(binary32("mul.f32", sources), (Values{bitsOf(kLeast), bitsOf(-kLeast)}));
  EXPECT_EQ(binary32("mul.ftz.f32", sources), (Values{0, bitsOf(-0.0f)}));
  EXPECT_EQ(binary32("mul.ftz.f32", {{bitsOf(0x1p-100f), bitsOf(0x1p-40f)}}), Values{0});
  EXPECT_EQ(unary32("abs.ftz.f32", {bitsOf(-kLeast)}), Values{0});
}

TEST(Float, NaNHasOnePattern) {
  EXPECT_EQ(binary32("add.f32", {{bitsOf(kInf), bitsOf(-kInf)}, {0xffc12345, 0}}),
            (Values{0x7fffffff, 0x7fffffff}));
  EXPECT_EQ(binary32("add.sat.f32", {{bitsOf(kInf), bitsOf(-kInf)},
                                     {bitsOf(2.0f), 0},
                                     {bitsOf(-2.0f), 0},
                                     {bitsOf(0.5f), 0}}),
            (Values{0, bitsOf(1.0f), 0, bitsOf(0.5f)}));
}

TEST(Float, ExtremaPreferNumbersAndOrderZeros) {
  std::vector<Values> sources = {{0x7fffffff, bitsOf(1.0f)},
                                 {bitsOf(1.0f), 0x7fffffff},
                                 {bitsOf(-0.0f), 0},
                                 {0, bitsOf(-0.0f)},
                                 {bitsOf(2.0f), bitsOf(1.0f)}};
  EXPECT_EQ(binary32("min.f32", sources),
            (Values{bitsOf(1.0f), bitsOf(1.0f), bitsOf(-0.0f), bitsOf(-0.0f), bitsOf(1.0f)}));
  EXPECT_EQ(binary32("max.f32", sources), (Values{bitsOf(1.0f), bitsOf(1.0f), 0, 0, bitsOf(2.0f)}));
  EXPECT_EQ(binary32("max.NaN.f32", sources), (Values{0x7fffffff, 0x7fffffff, 0, 0, bitsOf(2.0f)}));
}

TEST(Float, SignsAreBits) {
  EXPECT_EQ(unary32("neg.f32", {bitsOf(1.0f), 0}), (Values{bitsOf(-1.0f), bitsOf(-0.0f)}));
  EXPECT_EQ(binary32("copysign.f32", {{bitsOf(-0.0f), bitsOf(3.0f)}, {bitsOf(1.0f), 0xffc00001}}),
            (Values{bitsOf(-3.0f), 0x7fc00001}));
}

/// Approximations differ from the exact result, but not by more than documented, and not from run
/// to run.
TEST(Float, ApproximationsKeepTheirBounds) {
  std::vector<Values> sources;
  for (int i = 0; i < 1000; ++i)
    sources.push_back({bitsOf(-10 + 0.02f * i)});
  Values got = results("ex2.approx.f32 %d, %a;", 32, {32}, sources);
  EXPECT_EQ(got, results("ex2.approx.f32 %d, %a;", 32, {32}, sources));
  int differ = 0;
  for (int i = 0; i < 1000; ++i) {
    double exact = std::exp2(double(-10 + 0.02f * i));
    float value = std::bit_cast<float>(uint32_t(got[i]));
    EXPECT_NEAR(value / exact, 1, 0x1p-22 + 0x1p-24);
    differ += value != float(exact);
  }
  EXPECT_GT(differ, 300);
  EXPECT_EQ(unary32("ex2.approx.f32", {bitsOf(-kInf), bitsOf(kInf), bitsOf(0.0f) ^ 0x7fffffff}),
            (Values{0, bitsOf(kInf), 0x7fffffff}));
  EXPECT_EQ(unary32("rsqrt.approx.f32", {bitsOf(-0.0f), bitsOf(kInf), bitsOf(-1.0f)}),
            (Values{bitsOf(-kInf), 0, 0x7fffffff}));
  EXPECT_EQ(unary32("lg2.approx.f32", {0, bitsOf(-1.0f)}), (Values{bitsOf(-kInf), 0x7fffffff}));
  EXPECT_EQ(unary32("rcp.approx.ftz.f32", {bitsOf(kLeast)}), Values{bitsOf(kInf)});
}

/// 0x3c00 is 1, 0x4000 is 2, 0xbc00 is -1 in f16; 0x3f80 and 0x4000 are 1 and 2 in bf16.
TEST(Float, HalvesAndTheirPairs) {
  auto halves = [](const std::string &text, const std::vector<Values> &sources) {
    return results(text, 16, {16, 16, 16}, sources);
  };
  EXPECT_EQ(halves("add.f16 %d, %a, %b;", {{0x3c00, 0x4000, 0}, {0x7bff, 0x7bff, 0}}),
            (Values{0x4200, 0x7c00}));
  EXPECT_EQ(halves("mul.ftz.f16 %d, %a, %b;", {{0x0400, 0x3800, 0}}), Values{0});
  EXPECT_EQ(halves("mul.f16 %d, %a, %b;", {{0x0400, 0x3800, 0}}), Values{0x0200});
  EXPECT_EQ(halves("add.sat.f16 %d, %a, %b;", {{0x3c00, 0x4000, 0}, {0xbc00, 0xbc00, 0}}),
            (Values{0x3c00, 0}));
  EXPECT_EQ(halves("fma.rn.relu.f16 %d, %a, %b, %c;", {{0x3c00, 0xbc00, 0}, {0x3c00, 0x4000, 0}}),
            (Values{0, 0x4000}));
  EXPECT_EQ(halves("fma.rn.bf16 %d, %a, %b, %c;", {{0x3f80, 0x4000, 0x3f80}}), Values{0x4040});
  // 7 * 37 = 259 is in the middle of 258 and 260. A tiny addend decides, which two roundings lose.
  EXPECT_EQ(halves("fma.rn.bf16 %d, %a, %b, %c;",
                   {{0x40e0, 0x4214, 0}, {0x40e0, 0x4214, 0x0080}, {0x40e0, 0x4214, 0x8080}}),
            (Values{0x4382, 0x4382, 0x4381}));
  EXPECT_EQ(halves("min.NaN.f16 %d, %a, %b;", {{0x7e00, 0x3c00, 0}}), Values{0x7fff});
  EXPECT_EQ(halves("max.bf16 %d, %a, %b;", {{0x7fff, 0x3f80, 0}}), Values{0x3f80});
  EXPECT_EQ(results("sub.f16x2 %d, %a, %b;", 32, {32, 32}, {{0x40003c00, 0x3c003c00}}),
            Values{0x3c000000});
  EXPECT_EQ(results("neg.bf16x2 %d, %a;", 32, {32}, {{0x3f80c000}}), Values{0xbf804000});
  EXPECT_EQ(results("setp.lt.f16 %r, %a, %b;\nselp.b32 %d, 1, 0, %r;", 32, {16, 16},
                    {{0xbc00, 0x3c00}, {0x7e00, 0x3c00}}),
            (Values{1, 0}));
}

//===- Comparisons --------------------------------------------------------===//

static Values compare(const std::string &relation, const std::vector<Values> &sources) {
  return results("setp." + relation + " %r, %a, %b;\nselp.b32 %d, 1, 0, %r;", 32, {32, 32},
                 sources);
}

TEST(Compare, KnowsSignsAndNaN) {
  EXPECT_EQ(compare("lt.s32", {{kMinus1, 1}, {1, 1}}), (Values{1, 0}));
  EXPECT_EQ(compare("lt.u32", {{kMinus1, 1}}), Values{0});
  EXPECT_EQ(compare("hi.u32", {{kMinus1, 1}}), Values{1});
  std::vector<Values> withNaN = {{0x7fffffff, bitsOf(1.0f)}, {bitsOf(1.0f), bitsOf(1.0f)}};
  EXPECT_EQ(compare("eq.f32", withNaN), (Values{0, 1}));
  EXPECT_EQ(compare("ne.f32", withNaN), (Values{0, 0}));
  EXPECT_EQ(compare("neu.f32", withNaN), (Values{1, 0}));
  EXPECT_EQ(compare("leu.f32", withNaN), (Values{1, 1}));
  EXPECT_EQ(compare("num.f32", withNaN), (Values{0, 1}));
  EXPECT_EQ(compare("nan.f32", withNaN), (Values{1, 0}));
  EXPECT_EQ(compare("eq.f32", {{bitsOf(kLeast), 0}}), Values{0});
  EXPECT_EQ(compare("eq.ftz.f32", {{bitsOf(kLeast), 0}}), Values{1});
}

TEST(Compare, CombinesPredicates) {
  auto combine = [](const std::string &text) {
    return results(text + "\nselp.b32 %d, 1, 0, %r;", 32, {32, 32}, {{1, 2}, {2, 1}});
  };
  EXPECT_EQ(combine("setp.lt.and.s32 %r, %a, %b, %q;"), (Values{1, 0}));
  EXPECT_EQ(combine("setp.lt.and.s32 %r, %a, %b, !%q;"), (Values{0, 0}));
  EXPECT_EQ(combine("setp.lt.or.s32 %r, %a, %b, %q;"), (Values{1, 1}));
  EXPECT_EQ(combine("setp.lt.xor.s32 %r, %a, %b, %q;"), (Values{0, 1}));
  EXPECT_EQ(combine("setp.lt.s32 %p|%r, %a, %b;"), (Values{0, 1}));
  EXPECT_EQ(combine("and.pred %r, %p, %q;"), (Values{0, 0}));
  EXPECT_EQ(combine("or.pred %r, %p, %q;"), (Values{1, 1}));
}

//===- Conversions --------------------------------------------------------===//

TEST(Convert, ExtendsBySignAndTruncates) {
  EXPECT_EQ(results("cvt.s64.s32 %d, %a;", 64, {32}, {{kMinus1}}), Values{UINT64_MAX});
  EXPECT_EQ(results("cvt.u64.u32 %d, %a;", 64, {32}, {{kMinus1}}), Values{kMinus1});
  EXPECT_EQ(results("cvt.u16.u32 %d, %a;", 16, {32}, {{0x12345}}), Values{0x2345});
  EXPECT_EQ(unary32("cvt.s32.s8", {0x1ff, 0x7f}), (Values{kMinus1, 0x7f}));
  EXPECT_EQ(unary32("cvt.sat.u8.s32", {300, uint32_t(-4), 7}), (Values{255, 0, 7}));
  EXPECT_EQ(unary32("cvt.sat.s8.s32", {300, uint32_t(-400)}), (Values{127, 0x80}));
}

TEST(Convert, FloatsToIntegersAreClamped) {
  EXPECT_EQ(unary32("cvt.rzi.s32.f32", {bitsOf(-1.9f), bitsOf(3e9f), bitsOf(-3e9f), 0x7fffffff}),
            (Values{kMinus1, 0x7fffffff, 0x80000000, 0}));
  EXPECT_EQ(unary32("cvt.rni.s32.f32", {bitsOf(2.5f), bitsOf(3.5f)}), (Values{2, 4}));
  EXPECT_EQ(unary32("cvt.rmi.s32.f32", {bitsOf(-1.5f)}), Values{uint32_t(-2)});
  EXPECT_EQ(unary32("cvt.rpi.s32.f32", {bitsOf(1.5f)}), Values{2});
  EXPECT_EQ(unary32("cvt.rzi.u32.f32", {bitsOf(-1.0f), bitsOf(5e9f)}), (Values{0, kMinus1}));
  EXPECT_EQ(results("cvt.rzi.s64.f32 %d, %a;", 64, {32}, {{bitsOf(1e30f)}, {0x7fffffff}}),
            (Values{INT64_MAX, uint64_t(INT64_MIN)}));
}

TEST(Convert, IntegersToFloatsRound) {
  EXPECT_EQ(unary32("cvt.rn.f32.u32", {16777217, 16777219}),
            (Values{bitsOf(16777216.0f), bitsOf(16777220.0f)}));
  EXPECT_EQ(unary32("cvt.rp.f32.u32", {16777217}), Values{bitsOf(16777218.0f)});
  EXPECT_EQ(unary32("cvt.rn.f32.s32", {kMinus1}), Values{bitsOf(-1.0f)});
}

TEST(Convert, FloatsRoundToFloats) {
  EXPECT_EQ(results("cvt.rz.f32.f64 %d, %a;", 32, {64}, {{bitsOf(1 + 0x1.8p-24)}}),
            Values{bitsOf(1.0f)});
  EXPECT_EQ(results("cvt.f64.f32 %d, %a;", 64, {32}, {{bitsOf(1.5f)}}), Values{bitsOf(1.5)});
  EXPECT_EQ(unary32("cvt.rni.f32.f32", {bitsOf(2.5f), bitsOf(-0.3f)}),
            (Values{bitsOf(2.0f), bitsOf(-0.0f)}));
  EXPECT_EQ(unary32("cvt.sat.f32.f32", {bitsOf(2.5f), 0x7fffffff}), (Values{bitsOf(1.0f), 0}));
  EXPECT_EQ(unary32("cvt.rna.tf32.f32", {0x3f801000, 0x3f800fff, 0xbf801000}),
            (Values{0x3f802000, 0x3f800000, 0xbf802000}));
}

/// Every number of a format, and the middle between each and the next one.
static void checkHalf(const HalfFormat &format, const std::string &name, bool isBack) {
  std::vector<Values> halves, floats;
  Values rounded;
  for (uint32_t bits = 0; bits < format.infinity; ++bits) {
    halves.push_back({bits});
    float value = static_cast<float>(fromHalf(bits, format));
    floats.push_back({bitsOf(value)});
    rounded.push_back(bits);
    float next = static_cast<float>(fromHalf(bits + 1, format));
    if (std::isinf(next))
      continue;
    floats.push_back({bitsOf(value + (next - value) / 2)});
    rounded.push_back(bits + (bits & 1)); // ties to even
  }
  auto inParts = [](const std::string &text, int to, int from, const std::vector<Values> &all) {
    Values got;
    for (size_t i = 0; i < all.size(); i += 1024) {
      std::vector<Values> part(all.begin() + i, all.begin() + std::min(all.size(), i + 1024));
      Values some = results(text, to, {from}, part);
      got.insert(got.end(), some.begin(), some.end());
    }
    return got;
  };
  EXPECT_EQ(inParts("cvt.rn." + name + ".f32 %d, %a;", 16, 32, floats), rounded);
  if (!isBack)
    return;
  Values values;
  for (size_t i = 0; i < halves.size(); ++i)
    values.push_back(bitsOf(static_cast<float>(fromHalf(halves[i][0], format))));
  EXPECT_EQ(inParts("cvt.f32." + name + " %d, %a;", 32, 16, halves), values);
}

TEST(Convert, HalvesRoundToNearest) {
  EXPECT_EQ(fromHalf(0x3c00, kF16), 1);
  EXPECT_EQ(fromHalf(0x0001, kF16), 0x1p-24);
  EXPECT_EQ(fromHalf(0x7bff, kF16), 65504);
  EXPECT_EQ(fromHalf(0xc000, kF16), -2);
  EXPECT_EQ(fromHalf(0x3f80, kBF16), 1);
  EXPECT_EQ(fromHalf(0x0001, kBF16), 0x1p-133);
  checkHalf(kF16, "f16", true);
  checkHalf(kBF16, "bf16", false);
  EXPECT_EQ(results("cvt.rz.f16.f32 %d, %a;", 16, {32}, {{bitsOf(65535.0f)}, {bitsOf(-1e9f)}}),
            (Values{0x7bff, 0xfbff}));
  EXPECT_EQ(results("cvt.rn.f16.f32 %d, %a;", 16, {32}, {{bitsOf(65520.0f)}, {0x7fffffff}}),
            (Values{0x7c00, 0x7fff}));
  EXPECT_EQ(results("cvt.rn.bf16x2.f32 %d, %a, %b;", 32, {32, 32}, {{bitsOf(1.0f), bitsOf(-2.0f)}}),
            Values{0x3f80c000});
}

//===- Moves --------------------------------------------------------------===//

TEST(Move, PacksAndUnpacks) {
  EXPECT_EQ(results("mov.b64 %d, {%a, %b};", 64, {32, 32}, {{1, 2}}), Values{0x200000001});
  EXPECT_EQ(results("{ .reg .b32 %x, %y;\nmov.b64 {%x, %y}, %a;\nsub.u32 %d, %y, %x; }", 32, {64},
                    {{0x300000001}}),
            Values{2});
  EXPECT_EQ(results("{ .reg .b16 %x;\nmov.b32 {_, %x}, %a;\nmov.b32 %d, {%x, %x}; }", 32, {32},
                    {{0x12345678}}),
            Values{0x12341234});
}
