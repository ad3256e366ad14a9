//===- IntervalTest.cpp - Bounds of symbolic sizes ------------------------===//
//
// Checks intervals of expressions against all values that they take for small sizes.
//
//===----------------------------------------------------------------------===//

#include "test/dialects/dfg/sizes/Generator.h"
#include "gtest/gtest.h"

using namespace tfc::dfg;

namespace {

constexpr int64_t kMostSize = 9;

DimExpr parse(llvm::StringRef text) { return *DimExpr::parse(text); }

DimExpr::Interval bounded(llvm::StringRef) { return {0, kMostSize}; }

void expectHolds(const DimExpr &size, DimExpr::Interval interval) {
  for (int64_t n = 0; n <= kMostSize; ++n) {
    for (int64_t m = 0; m <= kMostSize; ++m) {
      int64_t value = valueOf(size, n, m);
      EXPECT_LE(interval.first.value_or(value), value) << size.str() << " at " << n << ", " << m;
      EXPECT_GE(interval.second.value_or(value), value) << size.str() << " at " << n << ", " << m;
    }
  }
}

TEST(Interval, HoldsAllValues) {
  Generator generator(1);
  for (unsigned i = 0; i < 3000; ++i) {
    DimExpr size = generator.draw(4);
    expectHolds(size, size.interval());
    expectHolds(size, size.interval(bounded));
    if (HasFailure())
      return;
  }
}

TEST(Interval, ComparesQuotientsWithTheirDividends) {
  EXPECT_EQ(parse("n - n // 2").interval().first, 0);
  EXPECT_EQ(parse("n - n // 2 - n // 4").interval().first, 0);
  EXPECT_EQ(parse("n // 2 - n // 4").interval().first, 0);
  EXPECT_EQ(parse("m * n - m * (n // 3)").interval().first, 0);
  EXPECT_EQ(parse("n // 2 - n").interval().second, 0);
  EXPECT_EQ(parse("n - 2 * (n // 2)").interval().second, 1);
  EXPECT_EQ(parse("n - n // 2").interval(bounded).first, 0);
}

TEST(Interval, ComparesRemaindersAndMinimaWithTheirOperands) {
  EXPECT_EQ(parse("n - n % 4").interval().first, 0);
  EXPECT_EQ(parse("n - min(m, n)").interval().first, 0);
  EXPECT_EQ(parse("max(m, n) - m").interval().first, 0);
  EXPECT_EQ(parse("min(m, n // 2) - n").interval().second, 0);
  EXPECT_EQ(parse("n - m").interval().first, std::nullopt);
  EXPECT_EQ(parse("n - min(m, 3)").interval().first, -3);
}

} // namespace
