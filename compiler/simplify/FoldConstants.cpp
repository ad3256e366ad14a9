//===- FoldConstants.cpp - Operations on constants ------------------------===//
//
// Folds elementwise operations whose operands have the same value in every element, and transposes
// of constants, such as the weights of an imported model.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/ElementData.h"
#include "dialects/dfg/FoldElement.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

namespace {
struct FoldElementwise : OpInterfaceRewritePattern<ScalarOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ScalarOpInterface op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!type.hasStaticShape() || type.getNumElements() == 0)
      return failure();
    SmallVector<Attribute> elements;
    for (Value operand : op->getOperands()) {
      DenseElementsAttr value;
      if (!matchPattern(operand, m_Constant(&value)) || !value.isSplat())
        return failure();
      elements.push_back(value.getSplatValue<Attribute>());
    }
    Attribute element = foldElement(op, elements);
    if (!element)
      return failure();
    rewriter.replaceOpWithNewOp<ConstantOp>(op, DenseElementsAttr::get(type, element));
    return success();
  }
};

/// A transpose of a constant is a constant, unless that would keep the elements twice.
struct FoldTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &b) const override {
    auto constant = op.getX().getDefiningOp<ConstantOp>();
    SmallVector<int64_t> axes = op.getPermutationVector();
    auto isAlike = [&](Operation *user) {
      auto other = dyn_cast<TransposeOp>(user);
      return other && other.getPermutationVector() == axes;
    };
    if (!constant || !llvm::all_of(constant->getUsers(), isAlike))
      return failure();
    ElementsAttr value = transposed(constant.getValue(), op.getType(), axes);
    if (!value)
      return failure();
    b.setInsertionPoint(constant);
    auto folded = ConstantOp::create(b, constant.getLoc(), value);
    copyPlacement(constant, folded);
    for (Operation *user : llvm::to_vector(constant->getUsers()))
      b.replaceOp(user, folded);
    return success();
  }

private:
  /// Null if an element is less than a byte.
  static ElementsAttr transposed(ElementsAttr value, RankedTensorType type, ArrayRef<int64_t> axes);
};
} // namespace

/// Copies elements in the order of the transpose.
static void copyTransposed(ArrayRef<char> from, ArrayRef<int64_t> shape, ArrayRef<int64_t> axes,
                           int64_t bytes, char *to) {
  int64_t rank = shape.size();
  SmallVector<int64_t> strides(rank, bytes), sizes, steps, at(rank);
  for (int64_t i = rank - 1; i > 0; --i)
    strides[i - 1] = strides[i] * shape[i];
  for (int64_t axis : axes) {
    sizes.push_back(shape[axis]);
    steps.push_back(strides[axis]);
  }
  const char *source = from.data();
  for (const char *end = to + from.size(); to != end; to += bytes) {
    memcpy(to, source, bytes);
    for (int64_t i = rank; i-- > 0;) {
      source += steps[i];
      if (++at[i] < sizes[i])
        break;
      source -= steps[i] * sizes[i];
      at[i] = 0;
    }
  }
}

ElementsAttr FoldTranspose::transposed(ElementsAttr value, RankedTensorType type,
                                       ArrayRef<int64_t> axes) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  if (auto dense = dyn_cast<DenseElementsAttr>(value); dense && dense.isSplat())
    return dense.resizeSplat(type);
  return rewriteElements(value, type, [&](ArrayRef<char> from, char *to) {
    copyTransposed(from, shape, axes, type.getElementTypeBitWidth() / 8, to);
  });
}

namespace {
struct FoldConstantsPass : tfc::impl::FoldConstantsBase<FoldConstantsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldElementwise, FoldTranspose>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
