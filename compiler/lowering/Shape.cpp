//===- Shape.cpp - Shape operations to linalg -----------------------------===//
//
// Lowers constants, sizes and changes of shape, where possible to access maps instead of computed
// indices.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;

/// Reads elements of any type without converting them.
static Value buildRead(OpBuilder &b, Location loc, Value input, AffineMap map,
                       ArrayRef<DimExpr> shape) {
  Type elementType = cast<RankedTensorType>(input.getType()).getElementType();
  return buildParallel(
      b, loc, input, map, shape, elementType,
      [](OpBuilder &, ValueRange scalars) { return scalars[0]; }, /*widenInputs=*/false);
}

namespace {
struct ConstantLowering : OpConversionPattern<ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ConstantOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    auto value = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!value)
      return rewriter.notifyMatchFailure(op, "large constants are arguments of kernels");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, DenseElementsAttr::getFromRawBuffer(type, value.getRawData()));
    return success();
  }
};

struct SizeLowering : OpConversionPattern<SizeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(SizeOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value size = buildSize(rewriter, op.getLoc(), op.getValue().getExprs()[0]);
    Value scalar = arith::IndexCastOp::create(rewriter, op.getLoc(), op.getDtype(), size);
    rewriter.replaceOp(op, buildFill(rewriter, op.getLoc(), scalar, {}));
    return success();
  }
};

struct BroadcastLowering : OpConversionPattern<BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(BroadcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Shape shape = shapeOf(op.getType());
    AffineMap map = broadcastMap(getContext(), shapeOf(op.getX().getType()), shape);
    rewriter.replaceOp(op, buildRead(rewriter, op.getLoc(), adaptor.getX(), map, shape));
    return success();
  }
};

struct ReshapeLowering : OpConversionPattern<ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ReshapeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, buildReshape(rewriter, op.getLoc(), adaptor.getX(),
                                        shapeOf(op.getX().getType()), shapeOf(op.getType())));
    return success();
  }
};

struct TransposeLowering : OpConversionPattern<TransposeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(TransposeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Shape shape = shapeOf(op.getType());
    SmallVector<AffineExpr> exprs(shape.size());
    for (auto [i, axis] : llvm::enumerate(op.getPermutationVector()))
      exprs[axis] = rewriter.getAffineDimExpr(i);
    AffineMap map = AffineMap::get(shape.size(), 0, exprs, getContext());
    rewriter.replaceOp(op, buildRead(rewriter, op.getLoc(), adaptor.getX(), map, shape));
    return success();
  }
};
} // namespace

void tfc::lowering::populateShapePatterns(TensorConverter &types, RewritePatternSet &patterns) {
  patterns
      .add<BroadcastLowering, ConstantLowering, ReshapeLowering, SizeLowering, TransposeLowering>(
          types, patterns.getContext());
}
