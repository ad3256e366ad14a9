//===- Position.cpp - Functions of element positions to linalg ------------===//
//
// Lowers `iota` and random numbers, whose elements are computed from the indices of the loop.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;

/// Returns the row-major position of the loop indices, as i64.
static Value buildLinearIndex(OpBuilder &b, Location loc, ArrayRef<Value> sizes) {
  Value position = arith::ConstantIndexOp::create(b, loc, 0);
  for (auto [i, size] : llvm::enumerate(sizes)) {
    position = arith::MulIOp::create(b, loc, position, size);
    Value index = linalg::IndexOp::create(b, loc, i);
    position = arith::AddIOp::create(b, loc, position, index);
  }
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), position);
}

namespace {
struct IotaLowering : OpConversionPattern<IotaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(IotaOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = storageType(elementTypeOf(op.getType()));
    Value result = buildParallel(
        rewriter, loc, {}, {}, shapeOf(op.getType()), type, [&](OpBuilder &b, ValueRange) -> Value {
          Value index = linalg::IndexOp::create(b, loc, 0);
          if (!isa<FloatType>(type))
            return arith::IndexCastOp::create(b, loc, type, index);
          Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
          return arith::SIToFPOp::create(b, loc, computeType(type), wide);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Lowers all random operations: the operation builds the draw of an element from the counter and
/// the position.
struct RandomLowering : OpInterfaceConversionPattern<RandomOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;

  LogicalResult matchAndRewrite(RandomOpInterface op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op->getResult(0).getType();
    Shape shape = shapeOf(type);
    SmallVector<Value> sizes;
    for (const DimExpr &size : shape)
      sizes.push_back(buildSize(rewriter, loc, size));
    AffineMap scalarMap = AffineMap::get(shape.size(), 0, {}, getContext());
    Value result =
        buildParallel(rewriter, loc, operands[0], scalarMap, shape,
                      storageType(elementTypeOf(type)), [&](OpBuilder &b, ValueRange scalars) {
                        Value position = buildLinearIndex(b, loc, sizes);
                        return op.buildDraw(b, scalars[0], position);
                      });
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

void tfc::lowering::populatePositionPatterns(TensorConverter &types, RewritePatternSet &patterns) {
  patterns.add<IotaLowering, RandomLowering>(types, patterns.getContext());
}
