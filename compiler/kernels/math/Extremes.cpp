// Minima and maxima of floats, which are NaN if an operand is. Processors have instructions that
// return the second operand if one is NaN; LLVM recognizes these as a comparison and a selection.

#include "compiler/kernels/math/Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {

/// Returns true for a constant without a NaN.
static bool isNumber(Value value) {
  DenseFPElementsAttr elements;
  FloatAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return !scalar.getValue().isNaN();
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         !elements.getSplatValue<APFloat>().isNaN();
}

static Value createNan(OpBuilder &b, Location loc, Type type) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  TypedAttr nan = b.getFloatAttr(element, APFloat::getNaN(element.getFloatSemantics()));
  if (auto vector = dyn_cast<VectorType>(type))
    nan = DenseElementsAttr::get(vector, Attribute(nan));
  return arith::ConstantOp::create(b, loc, nan);
}

/// Selects the right operand if it is the more extreme one, else the left one, which therefore may
/// be NaN. In a reduction that is the accumulator: whether the right operand is NaN is known before
/// it, and one instruction depends on the one before. The result is a constant NaN, because LLVM
/// would merge two selections of the right operand into one, and no longer see an extreme.
template <typename Op, arith::CmpFPredicate isMoreExtreme>
struct ExpandExtreme : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value left = op.getLhs(), right = op.getRhs();
    if (isNumber(left))
      std::swap(left, right);
    Value chooses = arith::CmpFOp::create(rewriter, loc, isMoreExtreme, right, left);
    Value extreme = arith::SelectOp::create(rewriter, loc, chooses, right, left);
    if (!isNumber(right)) {
      Value isNan = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::UNO, right, right);
      Value nan = createNan(rewriter, loc, op.getType());
      extreme = arith::SelectOp::create(rewriter, loc, isNan, nan, extreme);
    }
    rewriter.replaceOp(op, extreme);
    return success();
  }
};

} // namespace

void tfc::kernels::populateExtremePatterns(RewritePatternSet &patterns) {
  // Before those of MLIR.
  patterns.add<ExpandExtreme<arith::MaximumFOp, arith::CmpFPredicate::OGT>,
               ExpandExtreme<arith::MinimumFOp, arith::CmpFPredicate::OLT>>(patterns.getContext(),
                                                                            /*benefit=*/2);
}
