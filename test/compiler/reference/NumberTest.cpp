//===- NumberTest.cpp - Bounds of numbers, and comparisons by them --------===//
//
// Tests the error bounds of single numbers, and comparisons by them, apart from any operation.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Reference.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace tfc::reference;

namespace {
struct Number : testing::Test {
  /// Compares two scalars.
  std::optional<Difference> compare(Type dtype, Real expected, double got) {
    Tensor tensor(dtype, {});
    tensor.setReal(0, expected);
    return findDifference(
        tensor, [&](int64_t) { return got; }, [&](int64_t) { return int64_t(got); });
  }

  MLIRContext context;
  Builder b{&context};
  Type f16 = b.getF16Type(), f32 = b.getF32Type(), f64 = b.getF64Type();
};
} // namespace

TEST_F(Number, StaysExactWhereEveryEvaluationIs) {
  EXPECT_TRUE(rounded(f32, {3, 0}, 0.5).isExact());
  EXPECT_TRUE(rounded(f32, {0.5, 0}, 0.5).isExact());
  EXPECT_FALSE(rounded(f32, {1.0 / 3, 0}, 0.5).isExact());
  EXPECT_FALSE(rounded(f32, {3, 0}, 2).isExact());
}

TEST_F(Number, TakesDenormalOperandsForZerosToo) {
  Tensor tensor(f32, {});
  tensor.setReal(0, {-0x1p-140, 0});
  EXPECT_EQ(tensor.real(0).low(), -0x1p-140);
  EXPECT_EQ(tensor.real(0).high(), 0);
  Tensor half(f16, {});
  half.setReal(0, {-0x1p-24, 0});
  EXPECT_TRUE(half.real(0).isExact());
}

TEST_F(Number, AddsTheRoundingOfItsDtype) {
  EXPECT_EQ(rounded(f32, {1.0 / 3, 0}, 0.5).error, 0.5 * 0x1p-23 / 3);
  EXPECT_GE(rounded(f16, {1.0 / 3, 0}, 0.5).error, 0.5 * 0x1p-10 / 3);
  EXPECT_GE(rounded(f64, {1.0 / 3, 0}, 0.5).error, 0x1p-52 / 3); // the oracle rounds too
}

TEST_F(Number, MayVanishWhereItIsDenormal) {
  EXPECT_GE(rounded(f32, {0x1p-130, 0}, 0).error, 0x1p-130);
  EXPECT_EQ(rounded(f32, {0, 0}, 0).error, 0);
}

TEST_F(Number, OverflowsToInfinity) {
  EXPECT_EQ(rounded(f32, {1e39, 0}, 0.5).value, INFINITY);
  EXPECT_FALSE(rounded(f32, {3.4e38, 1e37}, 0.5).isDetermined());
}

TEST_F(Number, SumsGrowWithTheirLength) {
  Sum few(f32), many(f32), whole(f32);
  for (int i = 0; i < 1000; ++i) {
    if (i < 10)
      few.add({0.1, 0});
    many.add({0.1, 0});
    whole.add({double(i), 0});
  }
  EXPECT_LT(few.get().error, 1e-6);
  EXPECT_GT(many.get().error, few.get().error * 1000);
  EXPECT_TRUE(whole.get().isExact());
}

TEST_F(Number, LimitsHoldHoweverLargeTheErrorIs) {
  Real square = rounded(f32, {0, 1, 0, 1}, 0.5);
  EXPECT_EQ(square.low(), 0);
  Sum squares(f32), mixed(f32);
  for (Sum *sum : {&squares, &mixed})
    for (int i = 0; i < 10; ++i)
      sum->add(square);
  mixed.add({-1, 0});
  EXPECT_EQ(squares.get().low(), 0);
  EXPECT_LT(mixed.get().low(), -1);
  // An end that is not a number of the dtype may be passed by rounding, another one not.
  EXPECT_LT(rounded(f32, {1, 1, 1.0 / 3, 2}, 0.5).low(), 1.0 / 3);
  EXPECT_EQ(rounded(f32, {1, 1, 0.5, 2}, 0.5).low(), 0.5);
  EXPECT_TRUE(compare(f32, {1e-9, 1, 0, 1}, -1e-9));
  EXPECT_FALSE(compare(f32, {1e-9, 1, 0, 1}, 0.5));
  EXPECT_FALSE(compare(f32, {0, 1e-38, 0, 1e-38}, -0x1p-130)); // as good as zero
}

TEST_F(Number, SumsThatCancelKeepTheRoundingOfTheirTerms) {
  Sum sum(f32);
  for (double term : {0.1, -0.3, 0.2})
    sum.add({term, 0});
  EXPECT_GT(sum.get().high(), 1e-8);
  EXPECT_LT(sum.get().low(), -1e-8);
}

TEST_F(Number, ProductsHaveTheSignsOfTheirFactors) {
  Real product = multiply({1, 3, 0, 4}, {2, 3, 0, 5});
  EXPECT_EQ(product.low(), 0);
  EXPECT_EQ(product.high(), 20);
  EXPECT_EQ(multiply({1, 3, 0, 4}, {-2, 0}).high(), 0);
}

TEST_F(Number, IntegersWrap) {
  EXPECT_EQ(wrap(b.getIntegerType(8), 130), -126);
  EXPECT_EQ(wrap(b.getIntegerType(8, /*isSigned=*/false), -1), 255);
  EXPECT_EQ(wrap(b.getI1Type(), 2), 0);
}

TEST_F(Number, ComparisonsKnowSpecialValues) {
  EXPECT_FALSE(compare(f32, {NAN, 0}, NAN));
  EXPECT_TRUE(compare(f32, {NAN, 0}, 1));
  EXPECT_FALSE(compare(f32, {INFINITY, 0}, INFINITY));
  EXPECT_TRUE(compare(f32, {INFINITY, 0}, -INFINITY));
  EXPECT_FALSE(compare(f32, {0.0, 0}, -0.0));
  EXPECT_FALSE(compare(f32, {1, kUndetermined}, 7));
  EXPECT_FALSE(compare(f16, {65530, 0}, INFINITY)); // stored as f16
}

TEST_F(Number, DifferencesAreCountedInUlps) {
  auto difference = compare(f32, {1, 0x1p-24}, 1 + 0x1p-21);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->ulps, 4);
  EXPECT_EQ(difference->allowedUlps, 0.5);
  EXPECT_EQ(ulpsBetween(f64, 1, 1 + 0x1p-52), 1);
}
