//===- DivisionTest.cpp - Quotients and remainders of symbolic sizes ------===//
//
// Checks the canonical forms of quotients and remainders against all values that they take for
// small sizes.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Facts.h"
#include "dialects/dfg/Remainders.h"
#include "test/dialects/dfg/sizes/Generator.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

using namespace tfc::dfg;

namespace {

constexpr int64_t kMostSize = 9;

DimExpr parse(llvm::StringRef text) { return *DimExpr::parse(text); }

TEST(Division, ComputesTheQuotientAndTheRemainder) {
  Generator generator(2);
  for (unsigned i = 0; i < 3000 && !HasFailure(); ++i) {
    DimExpr size = generator.draw(3);
    int64_t divisor = int64_t(i % 12) + 1;
    DimExpr quotient = DimExpr::floorDiv(size, divisor), remainder = DimExpr::mod(size, divisor);
    for (int64_t n = 0; n <= kMostSize; ++n) {
      for (int64_t m = 0; m <= kMostSize; ++m) {
        int64_t value = valueOf(size, n, m);
        EXPECT_EQ(valueOf(quotient, n, m), llvm::divideFloorSigned(value, divisor)) << size.str();
        EXPECT_EQ(valueOf(remainder, n, m), llvm::mod(value, divisor)) << size.str();
      }
    }
  }
}

TEST(Division, IsReadBackFromItsText) {
  Generator generator(3);
  for (unsigned i = 0; i < 3000 && !HasFailure(); ++i) {
    DimExpr size = DimExpr::mod(generator.draw(3), int64_t(i % 12) + 1) + generator.draw(3);
    EXPECT_EQ(parse(size.canonical()).canonical(), size.canonical());
    EXPECT_TRUE(parse(size.canonical()) == size) << size.canonical();
  }
}

TEST(Division, HasLimitsThatHold) {
  auto range = [](llvm::StringRef) { return std::pair(DimExpr(0), DimExpr(kMostSize)); };
  for (unsigned i = 0; i < 1000; ++i) {
    // The operands of products are sizes, never negative.
    DimExpr dividend = DimExpr::symbol("n") * int64_t(i % 5 + 1) + DimExpr::symbol("m");
    DimExpr size = DimExpr::mod(dividend, int64_t(i % 12) + 1) * int64_t(i % 3 + 1);
    std::optional<int64_t> most = size.limits(range).second.constant();
    ASSERT_TRUE(most.has_value());
    for (int64_t n = 0; n <= kMostSize; ++n)
      for (int64_t m = 0; m <= kMostSize; ++m)
        EXPECT_LE(valueOf(size, n, m), *most) << size.str();
  }
}

TEST(Division, HasOneFormForPaddingToAMultiple) {
  DimExpr padded = parse("4 * ((n + 3) // 4)");
  EXPECT_TRUE(parse("n + (0 - n) % 4") == padded);
  EXPECT_TRUE(parse("n + (4 - n % 4) % 4") == padded);
  EXPECT_TRUE(parse("n + 4 * ((n + 3) // 4) - n") == padded);
  EXPECT_TRUE(parse("0 - 4 * ((0 - n) // 4)") == padded);
  EXPECT_TRUE(DimExpr::floorDiv(padded, 4) == parse("(n + 3) // 4"));
  EXPECT_TRUE(DimExpr::mod(padded, 4).isConstant(0));
}

TEST(Division, CancelsCommonFactors) {
  EXPECT_TRUE(parse("(2 * n + 1) // 4") == parse("n // 2"));
  EXPECT_TRUE(parse("(6 * n + 3 * m) // 9") == parse("(2 * n + m) // 3"));
  EXPECT_TRUE(parse("(2 * n) % 4") == parse("2 * (n % 2)"));
}

TEST(Division, IsPrintedAsRemainder) {
  EXPECT_EQ(parse("n - 4 * (n // 4)").str(), "n % 4");
  EXPECT_EQ(parse("(n + 5) % 4 + 2").str(), "((n + 1) % 4) + 2");
  EXPECT_EQ(parse("3 - n % 4").str(), "-(n % 4) + 3");
  EXPECT_EQ(parse("m * (n % 4)").str(), "m * (n % 4)");
  EXPECT_EQ(parse("n % 4 + n").str(), "-4 * (n // 4) + 2 * n");
}

TEST(Division, ReadsFactsAboutRemainders) {
  auto congruence = Congruence::of({parse("2 * (n % 6) + 1"), Comparison::Equal, 7});
  ASSERT_TRUE(congruence.has_value());
  EXPECT_EQ(congruence->dividend.str(), "n");
  EXPECT_EQ(congruence->divisor, 6);
  EXPECT_EQ(congruence->value, 3);
  EXPECT_FALSE(Congruence::of({parse("2 * (n % 6)"), Comparison::Equal, 7}).has_value());
}

} // namespace
