// Conversions of integers to 16-bit floats, which LLVM does not have for all targets.

#include "compiler/kernels/math/Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace {

/// Converts integers to f16 and bf16 via f32, as defined by `cast`. MLIR folds the two steps into
/// one.
template <typename Op> struct ConvertByF32 : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    if (!element.isF16() && !element.isBF16())
      return failure();
    Type wide = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    Value number = Op::create(rewriter, op.getLoc(), wide, op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, number);
    return success();
  }
};

} // namespace

void tfc::kernels::populateConversionPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertByF32<arith::SIToFPOp>, ConvertByF32<arith::UIToFPOp>>(patterns.getContext());
}
