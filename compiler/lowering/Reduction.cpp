//===- Reduction.cpp - Reductions to linalg -------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;

/// The smallest value of a compute type: minus infinity, or the smallest integer.
static TypedAttr smallest(OpBuilder &b, Type type, bool isUnsigned) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return b.getFloatAttr(type, APFloat::getInf(floatType.getFloatSemantics(), /*Negative=*/true));
  unsigned width = type.getIntOrFloatBitWidth();
  return b.getIntegerAttr(type, isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width));
}

namespace {
/// A reduction with the attributes `axis` and `keep_dims`; `Derived` gives neutral element and body.
template <typename Op, typename Derived>
struct ReductionLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Shape shape = shapeOf(op.getX().getType());
    Type elementType = elementTypeOf(op.getX().getType());
    SmallVector<int64_t> axes = reducedAxes(op.getAxisAttr(), shape.size());
    TypedAttr neutral = Derived::neutral(rewriter, elementType);
    Value reduced = buildReduction(
        rewriter, op.getLoc(), adaptor.getX(), shape, axes, neutral, storageType(elementType),
        [&](OpBuilder &b, ValueRange scalars) {
          return Derived::combine(b, op.getLoc(), scalars[1], scalars[0], elementType);
        });
    Shape reducedShape;
    for (auto [i, size] : llvm::enumerate(shape))
      if (!llvm::is_contained(axes, int64_t(i)))
        reducedShape.push_back(size);
    rewriter.replaceOp(op, buildReshape(rewriter, op.getLoc(), reduced, reducedShape,
                                        shapeOf(op.getType())));
    return success();
  }
};

struct SumLowering : ReductionLowering<SumOp, SumLowering> {
  using ReductionLowering::ReductionLowering;
  static TypedAttr neutral(OpBuilder &b, Type elementType) {
    return b.getZeroAttr(computeType(elementType));
  }
  static Value combine(OpBuilder &b, Location loc, Value accumulator, Value element, Type) {
    if (isa<FloatType>(element.getType()))
      return arith::AddFOp::create(b, loc, accumulator, element);
    return arith::AddIOp::create(b, loc, accumulator, element);
  }
};

struct MaxLowering : ReductionLowering<MaxOp, MaxLowering> {
  using ReductionLowering::ReductionLowering;
  static TypedAttr neutral(OpBuilder &b, Type elementType) {
    return smallest(b, computeType(elementType), elementType.isUnsignedInteger());
  }
  static Value combine(OpBuilder &b, Location loc, Value accumulator, Value element,
                       Type elementType) {
    if (isa<FloatType>(element.getType()))
      return arith::MaximumFOp::create(b, loc, accumulator, element);
    if (elementType.isUnsignedInteger())
      return arith::MaxUIOp::create(b, loc, accumulator, element);
    return arith::MaxSIOp::create(b, loc, accumulator, element);
  }
};
} // namespace

void tfc::lowering::populateReductionPatterns(TensorConverter &types, RewritePatternSet &patterns) {
  patterns.add<SumLowering, MaxLowering>(types, patterns.getContext());
}
