//===- IntervalTest.cpp - Bounds of symbolic sizes ------------------------===//
//
// Checks intervals of expressions against all values that they take for small sizes.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/DimExpr.h"
#include "gtest/gtest.h"
#include <random>

using tfc::dfg::DimExpr;

namespace {

constexpr int64_t kMostSize = 9;

DimExpr parse(llvm::StringRef text) { return *DimExpr::parse(text); }

DimExpr::Interval bounded(llvm::StringRef) { return {0, kMostSize}; }

/// Draws expressions over the sizes n and m.
class Generator {
public:
  explicit Generator(uint64_t seed) : engine(seed) {}

  DimExpr draw(unsigned depth) {
    if (depth == 0 || number(0, 4) == 0)
      return leaf();
    DimExpr lhs = draw(depth - 1);
    switch (number(0, 6)) {
    case 0:
      return lhs + draw(depth - 1);
    case 1:
      return lhs - draw(depth - 1);
    case 2:
      return lhs * draw(depth - 1);
    case 3:
      return DimExpr::floorDiv(lhs, number(1, 5));
    case 4:
      return DimExpr::mod(lhs, number(1, 5));
    case 5:
      return DimExpr::min(lhs, draw(depth - 1));
    default:
      return DimExpr::max(lhs, draw(depth - 1));
    }
  }

private:
  int64_t number(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(engine);
  }
  DimExpr leaf() {
    int64_t choice = number(0, 4);
    return choice < 2   ? DimExpr::symbol("n")
           : choice < 4 ? DimExpr::symbol("m")
                        : DimExpr(number(-4, 4));
  }

  std::mt19937_64 engine;
};

/// The value for sizes n and m.
int64_t valueOf(const DimExpr &size, int64_t n, int64_t m) {
  return *size.evaluate([&](llvm::StringRef name) { return std::optional(name == "n" ? n : m); });
}

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
