//===- Sort.cpp - Sorts to linalg -----------------------------------------===//
//
// Lowers sorts of positions to `linalg_ext.sort` on integer keys that have the order of the
// elements.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "dialects/dfg/SortOps.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;
namespace linalg_ext = tfc::linalg_ext;

/// Returns an unsigned integer with the order of `x`, which is in its compute type; NaN sorts last.
static Value buildKey(OpBuilder &b, Location loc, Value x, bool isUnsigned) {
  Type type = x.getType();
  if (type.isInteger(1))
    return arith::ExtUIOp::create(b, loc, b.getI8Type(), x);
  auto key = b.getIntegerType(type.getIntOrFloatBitWidth());
  auto number = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(key, value));
  };
  unsigned bits = key.getWidth();
  Value sign = number(APInt::getSignMask(bits));
  if (!isa<FloatType>(type))
    return isUnsigned ? x : arith::XOrIOp::create(b, loc, x, sign).getResult();
  // Adding 0 turns negative zero, and denormals that are flushed, into positive zero.
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value same = arith::AddFOp::create(b, loc, x, zero);
  Value pattern = arith::BitcastOp::create(b, loc, key, same);
  // The complement of their bits reverses the order of negative numbers; the sign bit places the
  // others after them.
  Value isNegative = arith::ShRSIOp::create(b, loc, pattern, number(APInt(bits, bits - 1)));
  Value flipped = arith::OrIOp::create(b, loc, isNegative, sign);
  Value ordered = arith::XOrIOp::create(b, loc, pattern, flipped);
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, loc, isNan, number(APInt::getAllOnes(bits)), ordered);
}

static Value buildKeys(OpBuilder &b, Value source, Value x, bool isDescending) {
  Location loc = source.getLoc();
  Shape shape = shapeOf(source.getType());
  Type element = elementTypeOf(source.getType());
  Type computed = computeType(element);
  unsigned bits = std::max(8u, computed.getIntOrFloatBitWidth());
  AffineMap map = AffineMap::getMultiDimIdentityMap(shape.size(), b.getContext());
  return buildParallel(b, loc, x, map, shape, b.getIntegerType(bits),
                       [&](OpBuilder &b, ValueRange scalars) -> Value {
                         bool isUnsigned = element.isUnsignedInteger();
                         Value key = buildKey(b, loc, scalars[0], isUnsigned);
                         if (!isDescending)
                           return key;
                         Value ones = arith::ConstantOp::create(
                             b, loc, b.getIntegerAttr(key.getType(), APInt::getAllOnes(bits)));
                         return arith::XOrIOp::create(b, loc, key, ones);
                       });
}

/// Returns the positions along `axis`, as numbers of `type`, of the first elements of `x` in sorted
/// order; `shape` determines how many. `source` is the operand of the dfg operation that `x` was
/// converted from.
static Value buildOrder(OpBuilder &b, Value source, Value x, int64_t axis, ArrayRef<DimExpr> shape,
                        Type type, bool isDescending) {
  Location loc = source.getLoc();
  Value keys = buildKeys(b, source, x, isDescending);
  Value into = buildEmpty(b, loc, shape, type);
  return linalg_ext::SortOp::create(b, loc, into.getType(), keys, into, b.getI64IntegerAttr(axis));
}

namespace {
struct ArgsortLowering : OpConversionPattern<ArgsortOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ArgsortOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Shape shape = shapeOf(op.getX().getType());
    int64_t axis = *normalizeAxis(op.getAxis(), shape.size());
    rewriter.replaceOp(op, buildOrder(rewriter, op.getX(), adaptor.getX(), axis, shape,
                                      rewriter.getI64Type(), /*isDescending=*/false));
    return success();
  }
};

/// If `k` exceeds the size, the remaining positions are 0; a check has failed the call in that
/// case.
struct ArgTopKLowering : OpConversionPattern<ArgTopKOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ArgTopKOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Shape shape = shapeOf(op.getType());
    int64_t axis = *normalizeAxis(op.getAxis(), shape.size());
    rewriter.replaceOp(op, buildOrder(rewriter, op.getX(), adaptor.getX(), axis, shape,
                                      rewriter.getI32Type(), op.getLargest()));
    return success();
  }
};
} // namespace

void tfc::lowering::populateSortPatterns(TensorConverter &types, RewritePatternSet &patterns) {
  patterns.add<ArgsortLowering, ArgTopKLowering>(types, patterns.getContext());
}
