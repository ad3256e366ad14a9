//===- IntegerTest.cpp - Integer arithmetic and bits ----------------------===//
//
// Compares each instruction with its definition in the ISA, for numbers at the edges and random
// ones.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/tests/Kernel.h"
#include <algorithm>
#include <functional>
#include <random>

using namespace tfc::gpu::test;

/// All pairs (or triples) of numbers at the edges, and random ones.
static std::vector<Numbers> numbers(int bits, size_t count) {
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  const uint64_t edges[] = {0,     1, 2, 31, 32, 33, mask, mask - 1, mask >> 1, (mask >> 1) + 1,
                            0x5a5a};
  std::vector<Numbers> operands(count);
  std::mt19937_64 engine(bits);
  for (uint64_t a : edges)
    for (uint64_t b : edges)
      for (uint64_t c : {edges[0], edges[6], edges[8], edges[3]}) {
        const uint64_t all[] = {a, b, c, c};
        for (size_t i = 0; i < count; ++i)
          operands[i].push_back(all[i] & mask);
      }
  for (int n = 0; n < 500; ++n)
    for (Numbers &operand : operands)
      operand.push_back((engine() >> (engine() % 64)) & mask);
  return operands;
}

using Definition = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;

static void expect(const std::string &code, int resultBits, int bits, size_t count,
                   const Definition &definition,
                   const std::function<bool(uint64_t, uint64_t)> &isDefined = nullptr) {
  std::vector<Numbers> all = numbers(bits, count), operands(count);
  for (size_t i = 0; i < all[0].size(); ++i)
    if (!isDefined || isDefined(all[0][i], all[1][i]))
      for (size_t k = 0; k < count; ++k)
        operands[k].push_back(all[k][i]);
  Numbers results = apply(code, resultBits, bits, operands);
  uint64_t mask = resultBits == 64 ? ~uint64_t(0) : (uint64_t(1) << resultBits) - 1;
  for (size_t i = 0; i < results.size(); ++i) {
    uint64_t a = operands[0][i], b = count > 1 ? operands[1][i] : 0,
             c = count > 2 ? operands[2][i] : 0;
    ASSERT_EQ(results[i], definition(a, b, c) & mask)
        << code << " of " << a << ", " << b << ", " << c;
  }
}

static int64_t sign(uint64_t value, int bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

TEST(Integers, AddSubtractAndMultiply) {
  for (int bits : {16, 32, 64}) {
    std::string size = std::to_string(bits);
    for (const char *kind : {".s", ".u"}) {
      std::string type = kind + size + " $d, $a, $b;";
      expect("add" + type, bits, bits, 2, [](auto a, auto b, auto) { return a + b; });
      expect("sub" + type, bits, bits, 2, [](auto a, auto b, auto) { return a - b; });
      expect("mul.lo" + type, bits, bits, 2, [](auto a, auto b, auto) { return a * b; });
      expect(std::string("mad.lo") + kind + size + " $d, $a, $b, $c;", bits, bits, 3,
             [](auto a, auto b, auto c) { return a * b + c; });
    }
    expect("mul.hi.u" + size + " $d, $a, $b;", bits, bits, 2, [&](auto a, auto b, auto) {
      return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> bits);
    });
    expect("mul.hi.s" + size + " $d, $a, $b;", bits, bits, 2, [&](auto a, auto b, auto) {
      return static_cast<uint64_t>((static_cast<__int128>(sign(a, bits)) * sign(b, bits)) >> bits);
    });
    if (bits == 64)
      continue;
    std::string twice = std::to_string(2 * bits);
    expect("mul.wide.u" + size + " $d, $a, $b;", 2 * bits, bits, 2,
           [](auto a, auto b, auto) { return a * b; });
    expect("mul.wide.s" + size + " $d, $a, $b;", 2 * bits, bits, 2,
           [&](auto a, auto b, auto) { return uint64_t(sign(a, bits) * sign(b, bits)); });
  }
  expect("add.sat.s32 $d, $a, $b;", 32, 32, 2, [](auto a, auto b, auto) {
    return uint64_t(std::clamp<int64_t>(sign(a, 32) + sign(b, 32), INT32_MIN, INT32_MAX));
  });
  expect("mad.hi.s32 $d, $a, $b, $c;", 32, 32, 3,
         [](auto a, auto b, auto c) { return uint64_t((sign(a, 32) * sign(b, 32)) >> 32) + c; });
}

TEST(Integers, Divide) {
  auto isDefined = [](uint64_t, uint64_t b) { return b != 0; };
  for (int bits : {16, 32, 64}) {
    std::string size = std::to_string(bits) + " $d, $a, $b;";
    auto quotient = [&](uint64_t a, uint64_t b, uint64_t) {
      return sign(b, bits) == -1 ? 0 - a : uint64_t(sign(a, bits) / sign(b, bits));
    };
    expect("div.u" + size, bits, bits, 2, [](auto a, auto b, auto) { return a / b; }, isDefined);
    expect("rem.u" + size, bits, bits, 2, [](auto a, auto b, auto) { return a % b; }, isDefined);
    expect("div.s" + size, bits, bits, 2, quotient, isDefined);
    expect(
        "rem.s" + size, bits, bits, 2,
        [&](auto a, auto b, auto c) { return a - quotient(a, b, c) * b; }, isDefined);
  }
}

TEST(Integers, CompareAndNegate) {
  for (int bits : {16, 32, 64}) {
    std::string size = std::to_string(bits), two = size + " $d, $a, $b;", one = size + " $d, $a;";
    auto isLess = [&](uint64_t a, uint64_t b) { return sign(a, bits) < sign(b, bits); };
    expect("min.u" + two, bits, bits, 2, [](auto a, auto b, auto) { return std::min(a, b); });
    expect("max.u" + two, bits, bits, 2, [](auto a, auto b, auto) { return std::max(a, b); });
    expect("min.s" + two, bits, bits, 2,
           [&](auto a, auto b, auto) { return isLess(a, b) ? a : b; });
    expect("max.s" + two, bits, bits, 2,
           [&](auto a, auto b, auto) { return isLess(a, b) ? b : a; });
    expect("neg.s" + one, bits, bits, 1, [](auto a, auto, auto) { return 0 - a; });
    expect("abs.s" + one, bits, bits, 1,
           [&](auto a, auto, auto) { return sign(a, bits) < 0 ? 0 - a : a; });
    expect("sad.s" + size + " $d, $a, $b, $c;", bits, bits, 3,
           [&](auto a, auto b, auto c) { return isLess(a, b) ? c + (b - a) : c + (a - b); });
  }
}

TEST(Integers, CarryBetweenWords) {
  // A sum and a product of 64 bits from words of 32.
  const std::string words = "mov.b64 {%r16, %r17}, $a;\n\tmov.b64 {%r18, %r19}, $b;\n\t";
  expect(words + "add.cc.u32 %r16, %r16, %r18;\n\taddc.u32 %r17, %r17, %r19;\n\t"
                 "mov.b64 $d, {%r16, %r17};",
         64, 64, 2, [](auto a, auto b, auto) { return a + b; });
  expect(words + "sub.cc.u32 %r16, %r16, %r18;\n\tsubc.u32 %r17, %r17, %r19;\n\t"
                 "mov.b64 $d, {%r16, %r17};",
         64, 64, 2, [](auto a, auto b, auto) { return a - b; });
  expect(words + "mul.lo.u32 %r20, %r16, %r18;\n\tmul.hi.u32 %r21, %r16, %r18;\n\t"
                 "mad.lo.u32 %r21, %r16, %r19, %r21;\n\tmad.lo.u32 %r21, %r17, %r18, %r21;\n\t"
                 "mov.b64 $d, {%r20, %r21};",
         64, 64, 2, [](auto a, auto b, auto) { return a * b; });
  // a0 * b0 + a, whose high word takes the carry of the low one.
  expect(words + "mad.lo.cc.u32 %r20, %r16, %r18, %r16;\n\tmadc.hi.u32 %r21, %r16, %r18, %r17;\n\t"
                 "mov.b64 $d, {%r20, %r21};",
         64, 64, 2, [](auto a, auto b, auto) { return (a & UINT32_MAX) * (b & UINT32_MAX) + a; });
}

TEST(Integers, MultiplyParts) {
  auto low24 = [](uint64_t a) { return a & 0xffffff; };
  expect("mul24.lo.u32 $d, $a, $b;", 32, 32, 2,
         [&](auto a, auto b, auto) { return low24(a) * low24(b); });
  expect("mul24.hi.s32 $d, $a, $b;", 32, 32, 2,
         [&](auto a, auto b, auto) { return uint64_t((sign(a, 24) * sign(b, 24)) >> 16); });
  expect("mad24.lo.s32 $d, $a, $b, $c;", 32, 32, 3,
         [&](auto a, auto b, auto c) { return uint64_t(sign(a, 24) * sign(b, 24)) + c; });
  auto dot = [](uint64_t a, uint64_t b, uint64_t c, bool aSigned, bool bSigned) {
    for (int i = 0; i < 32; i += 8) {
      uint64_t x = a >> i & 255, y = b >> i & 255;
      c += uint64_t((aSigned ? sign(x, 8) : int64_t(x)) * (bSigned ? sign(y, 8) : int64_t(y)));
    }
    return c;
  };
  expect("dp4a.u32.u32 $d, $a, $b, $c;", 32, 32, 3,
         [&](auto a, auto b, auto c) { return dot(a, b, c, false, false); });
  expect("dp4a.s32.u32 $d, $a, $b, $c;", 32, 32, 3,
         [&](auto a, auto b, auto c) { return dot(a, b, c, true, false); });
  expect("dp2a.hi.s32.u32 $d, $a, $b, $c;", 32, 32, 3, [](auto a, auto b, auto c) {
    return c + uint64_t(sign(a & 0xffff, 16) * int64_t(b >> 16 & 255)) +
           uint64_t(sign(a >> 16, 16) * int64_t(b >> 24));
  });
}

TEST(Bits, CombineLogically) {
  for (int bits : {16, 32, 64}) {
    std::string two = std::to_string(bits) + " $d, $a, $b;",
                one = std::to_string(bits) + " $d, $a;";
    expect("and.b" + two, bits, bits, 2, [](auto a, auto b, auto) { return a & b; });
    expect("or.b" + two, bits, bits, 2, [](auto a, auto b, auto) { return a | b; });
    expect("xor.b" + two, bits, bits, 2, [](auto a, auto b, auto) { return a ^ b; });
    expect("not.b" + one, bits, bits, 1, [](auto a, auto, auto) { return ~a; });
    expect("cnot.b" + one, bits, bits, 1, [](auto a, auto, auto) { return uint64_t(a == 0); });
  }
  // (a & b) | ~c, by its values for a = 0xf0, b = 0xcc, c = 0xaa.
  expect("lop3.b32 $d, $a, $b, $c, " + std::to_string((0xf0 & 0xcc) | (~0xaa & 0xff)) + ";", 32, 32,
         3, [](auto a, auto b, auto c) { return (a & b) | ~c; });
}

TEST(Bits, ShiftsClampTheirAmount) {
  for (int bits : {16, 32, 64}) {
    std::string size = std::to_string(bits);
    std::string amount = bits == 64   ? "cvt.u32.u64 %r16, $b;\n\t"
                         : bits == 16 ? "cvt.u32.u16 %r16, $b;\n\t"
                                      : "mov.b32 %r16, $b;\n\t";
    auto clamp = [](uint64_t b) { return std::min<uint64_t>(b & UINT32_MAX, 64); };
    expect(amount + "shl.b" + size + " $d, $a, %r16;", bits, bits, 2,
           [&](auto a, auto b, auto) { return clamp(b) >= 64 ? 0 : a << clamp(b); });
    expect(amount + "shr.u" + size + " $d, $a, %r16;", bits, bits, 2,
           [&](auto a, auto b, auto) { return clamp(b) >= 64 ? 0 : a >> clamp(b); });
    expect(amount + "shr.s" + size + " $d, $a, %r16;", bits, bits, 2, [&](auto a, auto b, auto) {
      return uint64_t(sign(a, bits) >> std::min<uint64_t>(clamp(b), 63));
    });
  }
  auto both = [](uint64_t a, uint64_t b) { return b << 32 | a; };
  expect("shf.l.wrap.b32 $d, $a, $b, $c;", 32, 32, 3,
         [&](auto a, auto b, auto c) { return both(a, b) << (c & 31) >> 32; });
  expect("shf.r.clamp.b32 $d, $a, $b, $c;", 32, 32, 3,
         [&](auto a, auto b, auto c) { return both(a, b) >> std::min<uint64_t>(c, 32); });
}

TEST(Bits, ExtractAndInsertFields) {
  // Bit by bit, as the ISA defines it; b is the position, c the length, both of 8 bits.
  for (int bits : {32, 64})
    for (bool isSigned : {false, true}) {
      std::string type = (isSigned ? "s" : "u") + std::to_string(bits);
      std::string cut = bits == 64 ? "cvt.u32.u64 %r16, $b;\n\tcvt.u32.u64 %r17, $c;\n\t"
                                   : "mov.b32 %r16, $b;\n\tmov.b32 %r17, $c;\n\t";
      expect(cut + "bfe." + type + " $d, $a, %r16, %r17;", bits, bits, 3,
             [&](auto a, auto b, auto c) {
               uint64_t position = b & 255, length = c & 255, result = 0;
               uint64_t msb = bits - 1, last = std::min(position + length - 1, msb);
               bool fill = isSigned && length > 0 && (a >> last & 1);
               for (uint64_t i = 0; i <= msb; ++i) {
                 bool bit = i < length && position + i <= msb ? a >> (position + i) & 1 : fill;
                 result |= uint64_t(bit) << i;
               }
               return result;
             });
    }
  expect("and.b32 %r16, $c, 63;\n\tshr.u32 %r17, $c, 7;\n\tbfi.b32 $d, $a, $b, %r16, %r17;", 32, 32,
         3, [](auto a, auto b, auto c) {
           uint64_t position = c & 63, length = c >> 7 & 255;
           for (uint64_t i = 0; i < length && position + i < 32; ++i)
             b = (b & ~(uint64_t(1) << (position + i))) | (a >> i & 1) << (position + i);
           return b;
         });
}

TEST(Bits, CountAndFind) {
  for (int bits : {32, 64}) {
    std::string size = std::to_string(bits) + " $d, $a;";
    expect("popc.b" + size, 32, bits, 1,
           [](auto a, auto, auto) { return uint64_t(__builtin_popcountll(a)); });
    auto zeros = [&](uint64_t a) {
      uint64_t count = 0;
      while (count < uint64_t(bits) && !(a >> (bits - 1 - count) & 1))
        ++count;
      return count;
    };
    expect("clz.b" + size, 32, bits, 1, [&](auto a, auto, auto) { return zeros(a); });
    expect("bfind.u" + size, 32, bits, 1,
           [&](auto a, auto, auto) { return uint64_t(bits) - 1 - zeros(a); });
    expect("bfind.shiftamt.s" + size, 32, bits, 1, [&](auto a, auto, auto) {
      uint64_t count = zeros(sign(a, bits) < 0 ? ~a << (64 - bits) >> (64 - bits) : a);
      return count == uint64_t(bits) ? ~uint64_t(0) : count;
    });
    expect("brev.b" + size, bits, bits, 1, [&](auto a, auto, auto) {
      uint64_t result = 0;
      for (int i = 0; i < bits; ++i)
        result |= (a >> i & 1) << (bits - 1 - i);
      return result;
    });
  }
}

TEST(Bits, PermuteBytes) {
  auto byte = [](uint64_t a, uint64_t b, uint64_t i) {
    return (i < 4 ? a >> (8 * i) : b >> (8 * (i - 4))) & 255;
  };
  expect("prmt.b32 $d, $a, $b, $c;", 32, 32, 3, [&](auto a, auto b, auto c) {
    uint64_t result = 0;
    for (int i = 0; i < 4; ++i) {
      uint64_t selected = byte(a, b, c >> (4 * i) & 7);
      if (c >> (4 * i) & 8)
        selected = selected & 128 ? 255 : 0;
      result |= selected << (8 * i);
    }
    return result;
  });
  expect("prmt.b32.f4e $d, $a, $b, $c;", 32, 32, 3, [&](auto a, auto b, auto c) {
    uint64_t result = 0;
    for (uint64_t i = 0; i < 4; ++i)
      result |= byte(a, b, (c & 3) + i) << (8 * i);
    return result;
  });
  expect("prmt.b32.rc16 $d, $a, $b, $c;", 32, 32, 3, [&](auto a, auto, auto c) {
    uint64_t half = c & 1 ? a >> 16 : a & 0xffff;
    return half << 16 | half;
  });
}

TEST(Integers, RefuseOtherForms) {
  EXPECT_EQ(refusalOf("\n\tadd.u8 %h1, %h2, %h3;"), "line 20: unknown instruction 'add.u8'");
  EXPECT_EQ(refusalOf("\n\tadd.b32 %r1, %r2, %r3;"), "line 20: unknown instruction 'add.b32'");
  EXPECT_EQ(refusalOf("\n\tmul.s32 %r1, %r2, %r3;"), "line 20: unknown instruction 'mul.s32'");
  EXPECT_EQ(refusalOf("\n\tadd.sat.u32 %r1, %r2, %r3;"),
            "line 20: unknown instruction 'add.sat.u32'");
  EXPECT_EQ(refusalOf("\n\tfoo.bar %r1;"), "line 20: unknown instruction 'foo.bar'");
  EXPECT_EQ(refusalOf("\n\tadd.u32 %r1, %rd2, %r3;"),
            "line 20: expected an operand of type u32, but got '%rd2'");
  EXPECT_EQ(refusalOf("\n\tadd.u32 %f1, %r2, %r3;"),
            "line 20: expected a register for a result of type u32, but got '%f1'");
  EXPECT_EQ(refusalOf("\n\tadd.u32 %r1, %r2, 0f3F800000;"),
            "line 20: expected an operand of type u32, but got a float");
  EXPECT_EQ(refusalOf("\n\tadd.u32 %r1, %r2;"),
            "line 20: expected 3 operands for 'add.u32', but got 2");
  EXPECT_EQ(refusalOf("\n\tadd.u32 %r1, %r2, %tid.x;"),
            "line 20: expected a register, but got '%tid.x', which mov alone reads");
  EXPECT_EQ(refusalOf("\n\tadd.u32 5, %r2, %r3;"),
            "line 20: expected a register for a result of type u32, but got 5");
  EXPECT_EQ(refusalOf("\n\t@%r1 add.u32 %r1, %r2, %r3;"),
            "line 20: expected a predicate, but got '%r1'");
}
