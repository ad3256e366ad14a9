//===- Contraction.cpp - Sums of products to linalg -----------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;

/// acc + a * b in the accumulator's type.
static Value buildMultiplyAdd(OpBuilder &b, Location loc, ValueRange scalars) {
  Value x = widen(b, loc, scalars[0]), y = widen(b, loc, scalars[1]);
  if (isa<FloatType>(x.getType())) {
    Value product = arith::MulFOp::create(b, loc, x, y);
    return arith::AddFOp::create(b, loc, scalars[2], product);
  }
  Value product = arith::MulIOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, scalars[2], product);
}

namespace {
/// Loops (batch..., m, n, k); k is reduced. A batch axis that an operand repeats is read at 0.
struct MatmulLowering : OpConversionPattern<MatmulOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MatmulOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Shape result = shapeOf(op.getType());
    int64_t batch = result.size() - 2, loops = batch + 3;
    AffineExpr m = rewriter.getAffineDimExpr(batch), n = rewriter.getAffineDimExpr(batch + 1),
               k = rewriter.getAffineDimExpr(batch + 2);
    auto operandMap = [&](Value operand, AffineExpr row, AffineExpr column, bool isTransposed) {
      Shape shape = shapeOf(operand.getType());
      AffineMap batchMap = broadcastMap(getContext(), ArrayRef(shape).drop_back(2),
                                        ArrayRef(result).drop_back(2));
      SmallVector<AffineExpr> exprs(batchMap.getResults());
      exprs.push_back(isTransposed ? column : row);
      exprs.push_back(isTransposed ? row : column);
      return AffineMap::get(loops, 0, exprs, getContext());
    };
    SmallVector<AffineExpr> outputs;
    for (int64_t i = 0; i < batch + 2; ++i)
      outputs.push_back(rewriter.getAffineDimExpr(i));
    AffineMap maps[] = {operandMap(op.getLhs(), m, k, op.getTransposeLhs()),
                        operandMap(op.getRhs(), k, n, op.getTransposeRhs()),
                        AffineMap::get(loops, 0, outputs, getContext())};
    SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
    iterators.back() = utils::IteratorType::reduction;

    Type elementType = storageType(elementTypeOf(op.getType()));
    Type accumulator = computeType(elementType);
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(accumulator));
    Value init = buildFill(rewriter, loc, zero, result);
    Value product = linalg::GenericOp::create(
                        rewriter, loc, init.getType(), adaptor.getOperands(), init, maps, iterators,
                        [](OpBuilder &b, Location loc, ValueRange scalars) {
                          linalg::YieldOp::create(b, loc, buildMultiplyAdd(b, loc, scalars));
                        })
                        .getResult(0);
    if (accumulator != elementType)
      product = buildParallel(rewriter, loc, product,
                              rewriter.getMultiDimIdentityMap(result.size()), result, elementType,
                              [](OpBuilder &, ValueRange scalars) { return scalars[0]; });
    rewriter.replaceOp(op, product);
    return success();
  }
};
} // namespace

void tfc::lowering::populateContractionPatterns(TensorConverter &types,
                                                RewritePatternSet &patterns) {
  patterns.add<MatmulLowering>(types, patterns.getContext());
}
