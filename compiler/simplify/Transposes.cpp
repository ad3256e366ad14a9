//===- Transposes.cpp - Moving transposes past other operations -----------===//
//
// A graph that has the channels of images in front of rows and columns has a transpose before and
// after each convolution, which has the channels last. Operations between two convolutions would
// compute in the first order, in kernels of their own. These patterns let them compute on the
// operand of the transpose, until it meets the transpose of the next convolution, and both are
// gone.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Transposes.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/Dfg.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tfc::dfg;

using Axes = SmallVector<int64_t>;

static Value transpose(OpBuilder &b, Operation *like, Value x, ArrayRef<int64_t> axes) {
  auto op = TransposeOp::create(b, like->getLoc(), x, b.getDenseI64ArrayAttr(axes));
  copyPlacement(like, op);
  return op;
}

/// Creates a copy of `op` on other operands, with another shape and other attributes.
static Operation *copyOn(OpBuilder &b, Operation *op, ValueRange operands, ArrayRef<DimExpr> shape,
                         ArrayRef<NamedAttribute> changed = {}) {
  OperationState state(op->getLoc(), op->getName());
  NamedAttrList attributes(op->getAttrDictionary());
  for (NamedAttribute attribute : changed)
    attributes.set(attribute.getName(), attribute.getValue());
  state.addAttributes(attributes);
  state.addOperands(operands);
  state.addTypes(tensorOf(shape, elementTypeOf(op->getResult(0).getType())));
  return b.create(state);
}

/// Returns true if a kernel computes the value, in the order of its own axes. Otherwise a transpose
/// costs nothing where it is, since it is read in that order anyway.
static bool isComputed(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && op->hasTrait<ViewRole>() && op->getNumOperands() > 0)
    op = op->getOperand(0).getDefiningOp();
  return op && !op->hasTrait<SourceRole>() && !isa<ReadOp>(op);
}

namespace {
/// An operation whose operands are all transposed in the same way, or in the same order anyway.
struct Untransposed {
  Axes axes, inverse; // of the transpose

  static std::optional<Untransposed> find(Operation *op, int64_t rank);
  Value source(OpBuilder &b, Value operand) const;
};
} // namespace

/// Returns the transpose that most of the work has: that of the first operand with the rank of the
/// result whose source is computed.
static TransposeOp findTranspose(Operation *op, int64_t rank) {
  for (Value operand : op->getOperands()) {
    auto transposed = operand.getDefiningOp<TransposeOp>();
    if (transposed && transposed.getType().getRank() == rank && isComputed(transposed.getX()))
      return transposed;
  }
  return {};
}

/// The shape of a value whose transpose by the inverse of `inverse` has the shape, with leading
/// axes of size 1 so that it has the rank of the permutation.
static Shape shapeBefore(Shape shape, const Axes &inverse) {
  shape.insert(shape.begin(), inverse.size() - shape.size(), DimExpr(1));
  return applyPermutation(shape, inverse);
}

/// Returns true if elements are in the same order in a tensor and in its transpose.
static bool movesUnitsOnly(ArrayRef<DimExpr> before, const Axes &inverse) {
  int64_t last = -1;
  for (auto [axis, size] : llvm::enumerate(before)) {
    if (size.isConstant(1))
      continue;
    if (inverse[axis] < last)
      return false;
    last = inverse[axis];
  }
  return true;
}

static bool isTransposedBy(Value value, const Axes &axes) {
  auto op = value.getDefiningOp<TransposeOp>();
  return op && op.getPermutationVector() == axes;
}

std::optional<Untransposed> Untransposed::find(Operation *op, int64_t rank) {
  TransposeOp transposed = findTranspose(op, rank);
  if (!transposed)
    return std::nullopt;
  Untransposed result;
  result.axes = transposed.getPermutationVector();
  result.inverse = invertPermutationVector(result.axes);
  for (Value operand : op->getOperands()) {
    Shape shape = shapeOf(operand.getType());
    if (!shape.empty() && !isTransposedBy(operand, result.axes) &&
        !movesUnitsOnly(shapeBefore(shape, result.inverse), result.inverse))
      return std::nullopt;
  }
  return result;
}

/// An operand as it is before the transpose: its source, or a reshape, without leading axes of size
/// 1, of one that broadcasts.
Value Untransposed::source(OpBuilder &b, Value operand) const {
  Shape shape = shapeOf(operand.getType());
  if (shape.empty())
    return operand;
  if (isTransposedBy(operand, axes))
    return operand.getDefiningOp<TransposeOp>().getX();
  Shape before = shapeBefore(shape, inverse);
  auto first = llvm::find_if(before, [](const DimExpr &size) { return !size.isConstant(1); });
  return reshapeTo(b, operand, ArrayRef(first, before.end()));
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
/// f(transpose(x), transpose(y)) = transpose(f(x, y)), if f is elementwise.
struct SinkBelowElementwise : OpInterfaceRewritePattern<ScalarOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ScalarOpInterface op, PatternRewriter &b) const override {
    Shape shape = shapeOf(op->getResult(0).getType());
    std::optional<Untransposed> before = Untransposed::find(op, shape.size());
    if (!before)
      return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(before->source(b, operand));
    Operation *copy = copyOn(b, op, operands, applyPermutation(shape, before->inverse));
    b.replaceOp(op, transpose(b, op, copy->getResult(0), before->axes));
    return success();
  }
};

/// concat(transpose(x), transpose(y)) = transpose(concat(x, y)).
struct SinkBelowConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &b) const override {
    Shape shape = shapeOf(op.getType());
    TransposeOp first = findTranspose(op, shape.size());
    if (!first)
      return failure();
    Axes axes = first.getPermutationVector();
    SmallVector<Value> sources;
    for (Value part : op.getXs()) {
      if (!isTransposedBy(part, axes))
        return failure();
      sources.push_back(part.getDefiningOp<TransposeOp>().getX());
    }
    int64_t axis = axes[*normalizeAxis(op.getAxis(), shape.size())];
    Operation *copy = copyOn(b, op, sources, applyPermutation(shape, invertPermutationVector(axes)),
                             b.getNamedAttr(op.getAxisAttrName(), b.getI64IntegerAttr(axis)));
    b.replaceOp(op, transpose(b, op, copy->getResult(0), axes));
    return success();
  }
};

/// slice(transpose(x)) = transpose(slice(x)), and the same for `place`.
template <typename Op> struct SinkBelowPart : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    Shape shape = shapeOf(op.getType());
    TransposeOp transposed = findTranspose(op, shape.size());
    if (!transposed)
      return failure();
    Axes axes = transposed.getPermutationVector(), inverse = invertPermutationVector(axes);
    SmallVector<NamedAttribute> changed;
    for (NamedAttribute attribute : op->getAttrs()) {
      if (auto dims = dyn_cast<DimsAttr>(attribute.getValue()))
        changed.emplace_back(
            attribute.getName(),
            DimsAttr::get(b.getContext(), applyPermutation(dims.getExprs(), inverse)));
      else if (auto steps = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()))
        changed.emplace_back(attribute.getName(),
                             b.getDenseI64ArrayAttr(applyPermutation(steps.asArrayRef(), inverse)));
    }
    Operation *copy = copyOn(b, op, transposed.getX(), applyPermutation(shape, inverse), changed);
    b.replaceOp(op, transpose(b, op, copy->getResult(0), axes));
    return success();
  }
};

/// reduce(transpose(x)) = transpose(reduce(x)), unless a row would no longer be one: a kernel
/// computes rows with all that is elementwise on them.
struct SinkBelowReduction : RewritePattern {
  explicit SinkBelowReduction(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &b) const override {
    if (!op->hasTrait<ReductionRole>() || op->getNumOperands() != 1 || op->getNumResults() != 1)
      return failure();
    int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
    TransposeOp transposed = findTranspose(op, rank);
    if (!transposed || !hasChannelsInFront(transposed))
      return failure();
    StringAttr name = b.getStringAttr("axis");
    Axes axes = transposed.getPermutationVector(), reduced;
    for (int64_t axis : reducedAxes(op->getAttrOfType<DenseI64ArrayAttr>(name), rank))
      reduced.push_back(axes[axis]);
    auto isReduced = [&](int64_t axis) { return llvm::is_contained(reduced, axis); };
    auto keepDims = op->getAttrOfType<BoolAttr>("keep_dims");
    Axes kept = axes; // the axes of the result, by those of x
    if (!keepDims || !keepDims.getValue()) {
      llvm::erase_if(kept, isReduced);
      Axes order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
      llvm::erase_if(order, isReduced);
      for (int64_t &axis : kept)
        axis = llvm::find(order, axis) - order.begin();
    }
    llvm::sort(reduced);
    Shape shape = shapeOf(op->getResult(0).getType());
    Operation *copy =
        copyOn(b, op, transposed.getX(), applyPermutation(shape, invertPermutationVector(kept)),
               b.getNamedAttr(name, b.getDenseI64ArrayAttr(reduced)));
    Value result = copy->getResult(0);
    b.replaceOp(op, llvm::is_sorted(kept) ? result : transpose(b, op, result, kept));
    return success();
  }

private:
  /// As of images: the last axis of x becomes the second one, and others stay in order.
  static bool hasChannelsInFront(TransposeOp op) {
    Axes axes = op.getPermutationVector();
    if (axes.size() < 4 || axes[1] != static_cast<int64_t>(axes.size()) - 1)
      return false;
    axes.erase(axes.begin() + 1);
    return llvm::is_sorted(axes);
  }
};

/// A transpose of a transpose is one transpose.
struct TransposeOfTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &b) const override {
    auto inner = op.getX().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    Axes axes = applyPermutation(inner.getPermutationVector(), op.getPermutationVector());
    b.replaceOp(op, llvm::is_sorted(axes) ? inner.getX() : transpose(b, op, inner.getX(), axes));
    return success();
  }
};

/// A reshape of a transpose that moves only axes of size 1 is a reshape.
struct ReshapeOfTranspose : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &b) const override {
    auto transposed = op.getX().getDefiningOp<TransposeOp>();
    if (!transposed || !movesUnitsOnly(shapeOf(transposed.getX().getType()),
                                       invertPermutationVector(transposed.getPermutationVector())))
      return failure();
    b.modifyOpInPlace(op, [&] { op.setOperand(transposed.getX()); });
    return success();
  }
};
} // namespace

void tfc::addTransposePatterns(RewritePatternSet &patterns) {
  patterns.add<ReshapeOfTranspose, SinkBelowConcat, SinkBelowElementwise, SinkBelowPart<PlaceOp>,
               SinkBelowPart<SliceOp>, SinkBelowReduction, TransposeOfTranspose>(
      patterns.getContext());
}
