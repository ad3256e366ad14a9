//===- Reduction.cpp - Reductions to linalg -------------------------------===//
//
// Lowers reductions; each pattern only defines a neutral element and a body.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;

namespace {
/// Lowers a reduction with the attributes `axis` and `keep_dims`; `Derived` defines the neutral
/// element and the body.
template <typename Op, typename Derived> struct ReductionLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Shape shape = shapeOf(op.getX().getType());
    Type elementType = elementTypeOf(op.getX().getType());
    SmallVector<int64_t> axes = reducedAxes(op.getAxisAttr(), shape.size());
    TypedAttr neutral = Derived::neutral(rewriter, elementType);
    rewriter.replaceOp(op, buildReduction(rewriter, op.getLoc(), adaptor.getX(), shape, axes,
                                          op.getKeepDims(), neutral, storageType(elementType),
                                          [&](OpBuilder &b, ValueRange scalars) {
                                            return Derived::combine(b, op.getLoc(), scalars[1],
                                                                    scalars[0], elementType);
                                          }));
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
    return extremeValue(b, elementType, /*isSmallest=*/true);
  }
  static Value combine(OpBuilder &b, Location loc, Value accumulator, Value element,
                       Type elementType) {
    return buildExtreme(b, loc, accumulator, element, /*isMax=*/true, elementType);
  }
};

struct MinLowering : ReductionLowering<MinOp, MinLowering> {
  using ReductionLowering::ReductionLowering;
  static TypedAttr neutral(OpBuilder &b, Type elementType) {
    return extremeValue(b, elementType, /*isSmallest=*/false);
  }
  static Value combine(OpBuilder &b, Location loc, Value accumulator, Value element,
                       Type elementType) {
    return buildExtreme(b, loc, accumulator, element, /*isMax=*/false, elementType);
  }
};

/// Lowers the position of an extreme element to one pass that keeps the element and its position. A
/// NaN is better than all numbers, and no element is better than an equal one before it.
template <typename Op, bool isMax> struct ArgReductionLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Shape shape = shapeOf(op.getX().getType());
    Type elementType = elementTypeOf(op.getX().getType());
    auto isBetter = [&](OpBuilder &b, ValueRange scalars) -> Value {
      Value element = scalars[0], best = scalars[1];
      if (isa<FloatType>(best.getType())) {
        auto order = isMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT;
        Value better = arith::CmpFOp::create(b, loc, order, element, best);
        Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, best, best);
        return arith::AndIOp::create(b, loc, better, isNumber);
      }
      using Order = arith::CmpIPredicate;
      bool isUnsigned = elementType.isUnsignedInteger();
      Order order =
          isMax ? (isUnsigned ? Order::ugt : Order::sgt) : (isUnsigned ? Order::ult : Order::slt);
      return arith::CmpIOp::create(b, loc, order, element, best);
    };
    rewriter.replaceOp(op, buildArgReduction(rewriter, loc, adaptor.getX(), shape,
                                             *normalizeAxis(op.getAxis(), shape.size()),
                                             op.getKeepDims(),
                                             extremeValue(rewriter, elementType, isMax),
                                             elementTypeOf(op.getType()), isBetter));
    return success();
  }
};

struct ProdLowering : ReductionLowering<ProdOp, ProdLowering> {
  using ReductionLowering::ReductionLowering;
  static TypedAttr neutral(OpBuilder &b, Type elementType) {
    return b.getOneAttr(computeType(elementType));
  }
  static Value combine(OpBuilder &b, Location loc, Value accumulator, Value element, Type) {
    if (isa<FloatType>(element.getType()))
      return arith::MulFOp::create(b, loc, accumulator, element);
    return arith::MulIOp::create(b, loc, accumulator, element);
  }
};

struct AllLowering : ReductionLowering<AllOp, AllLowering> {
  using ReductionLowering::ReductionLowering;
  static TypedAttr neutral(OpBuilder &b, Type) { return b.getBoolAttr(true); }
  static Value combine(OpBuilder &b, Location loc, Value accumulator, Value element, Type) {
    return arith::AndIOp::create(b, loc, accumulator, element);
  }
};

struct AnyLowering : ReductionLowering<AnyOp, AnyLowering> {
  using ReductionLowering::ReductionLowering;
  static TypedAttr neutral(OpBuilder &b, Type) { return b.getBoolAttr(false); }
  static Value combine(OpBuilder &b, Location loc, Value accumulator, Value element, Type) {
    return arith::OrIOp::create(b, loc, accumulator, element);
  }
};
} // namespace

void tfc::lowering::populateReductionPatterns(TensorConverter &types, RewritePatternSet &patterns) {
  patterns.add<AllLowering, AnyLowering, ArgReductionLowering<ArgmaxOp, /*isMax=*/true>,
               ArgReductionLowering<ArgminOp, /*isMax=*/false>, MaxLowering, MinLowering,
               ProdLowering, SumLowering>(types, patterns.getContext());
}
