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

/// Returns true if an element is better than the best one before it. A NaN is better than all
/// numbers, and no element is better than an equal one before it.
static Value buildIsBetter(OpBuilder &b, Location loc, Value element, Value best, bool isMax,
                           bool isUnsigned) {
  if (isa<FloatType>(best.getType())) {
    auto order = isMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT;
    Value better = arith::CmpFOp::create(b, loc, order, element, best);
    Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, best, best);
    return arith::AndIOp::create(b, loc, better, isNumber);
  }
  using Order = arith::CmpIPredicate;
  Order order =
      isMax ? (isUnsigned ? Order::ugt : Order::sgt) : (isUnsigned ? Order::ult : Order::slt);
  return arith::CmpIOp::create(b, loc, order, element, best);
}

/// Builds the extreme elements over axes and their positions in one pass that keeps both.
static std::pair<Value, Value> buildExtremeWithIndex(OpBuilder &b, Operation *op, Value x,
                                                     ArrayRef<int64_t> axes, bool keepDims,
                                                     bool isMax, Type indexType) {
  Type operand = op->getOperand(0).getType(), elementType = elementTypeOf(operand);
  return buildArgReduction(b, op->getLoc(), x, shapeOf(operand), axes, keepDims,
                           extremeValue(b, elementType, /*isSmallest=*/isMax),
                           storageType(elementType), indexType,
                           [&](OpBuilder &b, ValueRange scalars) {
                             return buildIsBetter(b, op->getLoc(), scalars[0], scalars[1], isMax,
                                                  elementType.isUnsignedInteger());
                           });
}

template <typename Op, bool isMax> struct ArgReductionLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    int64_t axis = *normalizeAxis(op.getAxis(), shapeOf(op.getX().getType()).size());
    rewriter.replaceOp(op,
                       buildExtremeWithIndex(rewriter, op, adaptor.getX(), axis, op.getKeepDims(),
                                             isMax, elementTypeOf(op.getType()))
                           .second);
    return success();
  }
};

struct MaxWithIndexLowering : OpConversionPattern<MaxWithIndexOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MaxWithIndexOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    size_t rank = shapeOf(op.getX().getType()).size();
    auto [y, index] = buildExtremeWithIndex(rewriter, op, adaptor.getX(),
                                            reducedAxes(op.getAxisAttr(), rank), /*keepDims=*/false,
                                            /*isMax=*/true, elementTypeOf(op.getIndex().getType()));
    rewriter.replaceOp(op, {y, index});
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
               ArgReductionLowering<ArgminOp, /*isMax=*/false>, MaxLowering, MaxWithIndexLowering,
               MinLowering, ProdLowering, SumLowering>(types, patterns.getContext());
}
