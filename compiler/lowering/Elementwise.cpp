//===- Elementwise.cpp - Elementwise operations to linalg -----------------===//
//
// Lowers all operations with scalar code by one pattern, so a new elementwise operation needs no
// lowering of its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;

namespace {
/// Lowers all elementwise operations: the operation builds its scalar computation, and the shapes
/// determine how operands are broadcast.
struct ElementwiseLowering : OpInterfaceConversionPattern<ScalarOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;

  LogicalResult matchAndRewrite(ScalarOpInterface op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    Shape shape = shapeOf(type);
    SmallVector<AffineMap> maps;
    for (Value operand : op->getOperands())
      maps.push_back(broadcastMap(getContext(), shapeOf(operand.getType()), shape));
    Value result = buildParallel(
        rewriter, op.getLoc(), operands, maps, shape, storageType(elementTypeOf(type)),
        [&](OpBuilder &b, ValueRange scalars) { return op.buildScalar(b, scalars); });
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

void tfc::lowering::populateElementwisePatterns(TensorConverter &types,
                                                RewritePatternSet &patterns) {
  patterns.add<ElementwiseLowering>(types, patterns.getContext());
}
