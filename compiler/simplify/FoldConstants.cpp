//===- FoldConstants.cpp - Operations on constants ------------------------===//
//
// Folds elementwise operations whose operands have the same value in every element, and transposes,
// reshapes, slices and casts to bf16 of constants, such as the weights of an imported model.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/ElementData.h"
#include "dialects/dfg/FoldElement.h"
#include "mlir/IR/DialectResourceBlobManager.h"
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

/// Replaces all readers of a constant by another one.
static LogicalResult replaceReaders(PatternRewriter &b, ConstantOp constant, ElementsAttr value) {
  b.setInsertionPoint(constant);
  auto folded = ConstantOp::create(b, constant.getLoc(), value);
  copyPlacement(constant, folded);
  for (Operation *user : llvm::to_vector(constant->getUsers()))
    b.replaceOp(user, folded);
  return success();
}

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
    return replaceReaders(b, constant, value);
  }

private:
  /// Null if an element is less than a byte.
  static ElementsAttr transposed(ElementsAttr value, RankedTensorType type, ArrayRef<int64_t> axes);
};

/// A constant whose elements are a resource has another shape with the same elements. Others fold
/// by themselves.
struct FoldReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &b) const override {
    auto constant = op.getX().getDefiningOp<ConstantOp>();
    auto value = constant ? dyn_cast<DenseResourceElementsAttr>(constant.getValue())
                          : DenseResourceElementsAttr();
    if (!value || !constant->hasOneUse())
      return failure();
    return replaceReaders(
        b, constant,
        DenseResourceElementsAttr::get(cast<ShapedType>(op.getType()), value.getRawHandle()));
  }
};

/// A constant of f32 that all read as bf16 is one of bf16: it takes half of the memory, and
/// products multiply pairs of its elements.
struct FoldBfloat : OpRewritePattern<CastOp> {
  explicit FoldBfloat(MLIRContext *context, DenseMap<Attribute, ElementsAttr> &rounded)
      : OpRewritePattern(context), rounded(rounded) {}

  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &b) const override {
    auto constant = op.getX().getDefiningOp<ConstantOp>();
    auto isAlike = [&](Operation *user) {
      auto other = dyn_cast<CastOp>(user);
      return other && other.getType() == op.getType();
    };
    if (!constant || !getElementTypeOrSelf(constant.getType()).isF32() ||
        !getElementTypeOrSelf(op.getType()).isBF16() ||
        !llvm::all_of(constant->getUsers(), isAlike))
      return failure();
    // Entries that read the same elements share them.
    ElementsAttr &value = rounded[constant.getValue()];
    if (!value)
      value = roundToBfloat(constant.getValue());
    if (!value)
      return failure();
    return replaceReaders(b, constant, value);
  }

private:
  DenseMap<Attribute, ElementsAttr> &rounded;
};

/// Slices of a constant are constants if together they have no more elements than it has.
struct FoldSlices : OpRewritePattern<ConstantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConstantOp constant, PatternRewriter &b) const override {
    int64_t left = cast<RankedTensorType>(constant.getType()).getNumElements();
    SmallVector<SliceOp> slices;
    for (Operation *user : constant->getUsers()) {
      auto slice = dyn_cast<SliceOp>(user);
      if (!slice || !isKnown(slice))
        return failure();
      left -= cast<RankedTensorType>(slice.getType()).getNumElements();
      slices.push_back(slice);
    }
    if (slices.empty() || left < 0)
      return failure();
    SmallVector<ElementsAttr> values;
    for (SliceOp slice : slices)
      if (!values.emplace_back(sliced(constant.getValue(), slice)))
        return failure();
    b.setInsertionPoint(constant);
    for (auto [slice, value] : llvm::zip_equal(slices, values)) {
      auto folded = ConstantOp::create(b, slice.getLoc(), value);
      copyPlacement(constant, folded);
      b.replaceOp(slice, folded);
    }
    return success();
  }

private:
  static bool isKnown(SliceOp op) {
    auto type = cast<RankedTensorType>(op.getType());
    return type.hasStaticShape() && type.getNumElements() > 0 &&
           llvm::all_of(op.getStarts().getExprs(),
                        [](const DimExpr &start) { return start.constant().has_value(); });
  }
  /// Null if an element is less than a byte.
  static ElementsAttr sliced(ElementsAttr value, SliceOp op);
};
} // namespace

/// Returns the bytes between neighbours along each axis of a tensor.
static SmallVector<int64_t> stridesOf(RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank(), type.getElementTypeBitWidth() / 8);
  for (int64_t i = type.getRank() - 1; i > 0; --i)
    strides[i - 1] = strides[i] * type.getDimSize(i);
  return strides;
}

/// Copies the elements of a tensor of `type` from bytes that are `steps` apart along its axes.
static void copyElements(const char *source, RankedTensorType type, ArrayRef<int64_t> steps,
                         char *to) {
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  SmallVector<int64_t> at(type.getRank());
  for (const char *end = to + type.getNumElements() * bytes; to != end; to += bytes) {
    memcpy(to, source, bytes);
    for (int64_t i = type.getRank(); i-- > 0;) {
      source += steps[i];
      if (++at[i] < type.getDimSize(i))
        break;
      source -= steps[i] * type.getDimSize(i);
      at[i] = 0;
    }
  }
}

ElementsAttr FoldTranspose::transposed(ElementsAttr value, RankedTensorType type,
                                       ArrayRef<int64_t> axes) {
  SmallVector<int64_t> strides = stridesOf(cast<RankedTensorType>(value.getType())), steps;
  for (int64_t axis : axes)
    steps.push_back(strides[axis]);
  if (auto dense = dyn_cast<DenseElementsAttr>(value); dense && dense.isSplat())
    return dense.resizeSplat(type);
  return rewriteElements(value, type, [&](ArrayRef<char> from, char *to) {
    copyElements(from.data(), type, steps, to);
  });
}

ElementsAttr FoldSlices::sliced(ElementsAttr value, SliceOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  if (auto dense = dyn_cast<DenseElementsAttr>(value); dense && dense.isSplat())
    return dense.resizeSplat(type);
  SmallVector<int64_t> steps = stridesOf(cast<RankedTensorType>(value.getType()));
  int64_t offset = 0;
  for (auto [step, start] : llvm::zip_equal(steps, op.getStarts().getExprs()))
    offset += *start.constant() * step;
  if (std::optional<ArrayRef<int64_t>> given = op.getSteps())
    for (auto [step, times] : llvm::zip_equal(steps, *given))
      step *= times;
  return rewriteElements(value, type, [&](ArrayRef<char> from, char *to) {
    copyElements(from.data() + offset, type, steps, to);
  });
}

namespace {
struct FoldConstantsPass : tfc::impl::FoldConstantsBase<FoldConstantsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    DenseMap<Attribute, ElementsAttr> rounded;
    patterns.add<FoldBfloat>(&getContext(), rounded);
    patterns.add<FoldElementwise, FoldReshape, FoldSlices, FoldTranspose>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
