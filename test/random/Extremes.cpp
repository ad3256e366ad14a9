//===- Extremes.cpp - Numbers at which operations decide ------------------===//
//
// Draws numbers at the limits of types and roundings. Constants and feeds use the same ones.
//
//===----------------------------------------------------------------------===//

#include "Extremes.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using llvm::APFloat;
using llvm::APInt;

namespace tfc::random {

/// An integer at or next to a limit of signed or unsigned numbers, a single bit, or a limit of
/// shifts.
static APInt drawInteger(Random &random, unsigned width) {
  APInt limit = random.chance(0.5) ? APInt::getSignedMinValue(width) : APInt::getZero(width);
  switch (random.below(6)) {
  case 0: // a shift's limits, the middle of the bits
    return APInt(width, random.pick(std::initializer_list<unsigned>{width - 1, width, width + 1}));
  case 1:
    return APInt::getOneBitSet(width, random.below(width));
  default:
    return limit + APInt(width, random.between(-2, 2), /*isSigned=*/true, /*implicitTrunc=*/true);
  }
}

/// A limit of integers, or a number next to it, where casts and roundings change their result.
static APFloat drawLimit(Random &random, const llvm::fltSemantics &semantics) {
  int bits = random.pick(std::initializer_list<int>{0, 7, 8, 15, 16, 31, 63, 64});
  double beside = random.pick(std::initializer_list<double>{-1, -0.5, 0, 0, 0.5, 1});
  APFloat value(std::ldexp(random.chance(0.5) ? 1.0 : -1.0, bits) + beside);
  bool isInexact;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &isInexact);
  if (random.chance(0.4))
    value.next(/*nextDown=*/random.chance(0.5));
  return value;
}

static APFloat drawFloat(Random &random, const llvm::fltSemantics &semantics) {
  bool isNegative = random.chance(0.5);
  switch (random.below(10)) {
  case 0:
    return APFloat::getNaN(semantics);
  case 1:
    return APFloat::getInf(semantics, isNegative);
  case 2:
    return APFloat::getLargest(semantics, isNegative);
  case 3:
  case 4:
    return APFloat::getZero(semantics, isNegative);
  case 5: { // the denormals' limits
    APFloat value = random.chance(0.5) ? APFloat::getSmallest(semantics, isNegative)
                                       : APFloat::getSmallestNormalized(semantics, isNegative);
    if (random.chance(0.5))
      value.next(/*nextDown=*/!isNegative);
    return value;
  }
  default:
    return drawLimit(random, semantics);
  }
}

APInt drawExtreme(Random &random, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return drawFloat(random, floatType.getFloatSemantics()).bitcastToAPInt();
  return drawInteger(random, type.getIntOrFloatBitWidth());
}

} // namespace tfc::random
