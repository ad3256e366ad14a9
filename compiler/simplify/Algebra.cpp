//===- Algebra.cpp - Identities across operations -------------------------===//
//
// Identities of single operations are their folders; this pass has those that
// involve several operations. Runs before fusion, which counts operations and
// readers.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Pads.h"
#include "compiler/simplify/Passes.h"
#include "compiler/simplify/Transposes.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/ConvolutionOps.h"
#include "dialects/dfg/Devices.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_SIMPLIFYALGEBRA
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// Returns the operand of a reshape that only adds leading axes of size 1, else null.
static Value withoutLeadingUnits(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return {};
  Shape from = shapeOf(reshape.getX().getType()), to = shapeOf(reshape.getType());
  if (from.size() >= to.size() || ArrayRef(to).take_back(from.size()) != ArrayRef(from))
    return {};
  auto added = ArrayRef(to).drop_back(from.size());
  return llvm::all_of(added, [](const DimExpr &size) { return size.isConstant(1); })
             ? reshape.getX()
             : Value();
}

namespace {
/// Elementwise operations broadcast implicitly: op(broadcast(x), y) = op(x, y), if the other
/// operands determine the shape of the result.
struct AbsorbBroadcast : OpInterfaceRewritePattern<ScalarOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ScalarOpInterface op, PatternRewriter &rewriter) const override {
    Shape result = shapeOf(op->getResult(0).getType());
    for (OpOperand &operand : op->getOpOperands()) {
      Value source = withoutLeadingUnits(operand.get());
      if (auto broadcast = operand.get().getDefiningOp<BroadcastOp>())
        source = broadcast.getX();
      if (!source)
        continue;
      Shape shape = shapeOf(source.getType());
      for (OpOperand &other : op->getOpOperands())
        if (&other != &operand)
          shape = broadcastShapes(shape, shapeOf(other.get().getType())).value_or(Shape());
      if (shape != result)
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(source); });
      return success();
    }
    return failure();
  }
};

/// broadcast(reshape(x)) = broadcast(x), if the reshape only adds leading axes of size 1.
struct BroadcastOfReshape : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    Value source = withoutLeadingUnits(op.getX());
    if (!source)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setOperand(source); });
    return success();
  }
};

/// broadcast(broadcast(x)) = broadcast(x).
struct BroadcastOfBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<BroadcastOp>();
    if (!inner)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setOperand(inner.getX()); });
    return success();
  }
};

/// matmul(transpose(a), b) becomes a matmul that reads `a` transposed.
struct AbsorbTranspose : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool swapsMatrix(TransposeOp op) {
    SmallVector<int64_t> permutation = op.getPermutationVector();
    if (permutation.size() < 2)
      return false;
    std::swap(permutation.end()[-1], permutation.end()[-2]);
    return llvm::is_sorted(permutation);
  }

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto lhs = op.getLhs().getDefiningOp<TransposeOp>();
    auto rhs = op.getRhs().getDefiningOp<TransposeOp>();
    bool takesLhs = lhs && swapsMatrix(lhs), takesRhs = rhs && swapsMatrix(rhs);
    if (!takesLhs && !takesRhs)
      return failure();
    auto product =
        MatmulOp::create(rewriter, op.getLoc(), takesLhs ? lhs.getX() : op.getLhs(),
                         takesRhs ? rhs.getX() : op.getRhs(), op.getTransposeLhs() != takesLhs,
                         op.getTransposeRhs() != takesRhs);
    copyPlacement(op, product);
    rewriter.replaceOp(op, product);
    return success();
  }
};

/// transpose(matmul(a, b)) = matmul(b', a'), if nothing else reads the product, and if its rows
/// stay long enough for vectors. Products absorb transposes of their operands instead.
struct TransposeOfProduct : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  static constexpr int64_t kLeastRow = 64;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto product = op.getX().getDefiningOp<MatmulOp>();
    if (!product || !product->hasOneUse() || !AbsorbTranspose::swapsMatrix(op) ||
        llvm::any_of(op->getUsers(), llvm::IsaPred<MatmulOp, ContractOp>) ||
        shapeOf(op.getType()).back().constant().value_or(0) < kLeastRow)
      return failure();
    rewriter.setInsertionPoint(product);
    auto swapped = MatmulOp::create(rewriter, product.getLoc(), product.getRhs(), product.getLhs(),
                                    !product.getTransposeRhs(), !product.getTransposeLhs());
    copyPlacement(product, swapped);
    rewriter.replaceOp(op, swapped);
    rewriter.eraseOp(product);
    return success();
  }
};

/// A reduction of a scalar is the scalar.
struct ReductionOfScalar : RewritePattern {
  explicit ReductionOfScalar(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<ReductionRole>() || op->getNumResults() != 1 ||
        op->getOperand(0).getType() != op->getResult(0).getType() ||
        !shapeOf(op->getResult(0).getType()).empty())
      return failure();
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

/// list_read(list_write(l, i, x), i) = x.
struct ReadOfWrite : OpRewritePattern<ListReadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ListReadOp op, PatternRewriter &rewriter) const override {
    auto write = op.getList().getDefiningOp<ListWriteOp>();
    if (!write || write.getIndex() != op.getIndex())
      return failure();
    rewriter.replaceOp(op, write.getValue());
    return success();
  }
};

/// list_stack(list_unstack(x)) = x.
struct StackOfUnstack : OpRewritePattern<ListStackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ListStackOp op, PatternRewriter &rewriter) const override {
    auto unstack = op.getList().getDefiningOp<ListUnstackOp>();
    if (!unstack || unstack.getX().getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, unstack.getX());
    return success();
  }
};

/// place(a) + place(b) = place(concat(a, b)), if the elements of b follow those of a along an axis,
/// as gradients of slices that divide a matrix do.
struct AddOfPlaces : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    auto lhs = op.getLhs().getDefiningOp<PlaceOp>(), rhs = op.getRhs().getDefiningOp<PlaceOp>();
    if (!lhs || !rhs || lhs.getType() != rhs.getType() || !isRun(lhs) || !isRun(rhs))
      return failure();
    std::optional<int64_t> axis = axisBetween(lhs, rhs);
    if (!axis) {
      std::swap(lhs, rhs);
      axis = axisBetween(lhs, rhs);
    }
    if (!axis)
      return failure();
    SmallVector<Value> parts;
    for (PlaceOp place : {lhs, rhs})
      appendParts(place.getX(), *axis, parts);
    auto joined = ConcatOp::create(rewriter, op.getLoc(), parts, rewriter.getI64IntegerAttr(*axis));
    copyPlacement(op, joined);
    auto placed = PlaceOp::create(rewriter, op.getLoc(), joined, lhs.getStarts(), lhs.getShape(),
                                  DenseI64ArrayAttr(), lhs.getValueAttr());
    copyPlacement(op, placed);
    rewriter.replaceOp(op, placed);
    return success();
  }

private:
  /// Returns true for adjacent elements among zeros that only the sum reads.
  static bool isRun(PlaceOp op) {
    return op->hasOneUse() && op.getValue().isZero() &&
           (!op.getSteps() || llvm::all_of(*op.getSteps(), [](int64_t step) { return step == 1; }));
  }

  /// Appends the parts of a concatenation along the axis that only a place reads, or the value.
  static void appendParts(Value value, int64_t axis, SmallVectorImpl<Value> &parts) {
    auto concat = value.getDefiningOp<ConcatOp>();
    int64_t rank = shapeOf(value.getType()).size();
    if (concat && concat->hasOneUse() && *normalizeAxis(concat.getAxis(), rank) == axis)
      llvm::append_range(parts, concat.getXs());
    else
      parts.push_back(value);
  }

  /// Returns the axis along which `next` begins where `op` ends, if they differ along it alone.
  static std::optional<int64_t> axisBetween(PlaceOp op, PlaceOp next) {
    Shape shape = shapeOf(op.getX().getType()), nextShape = shapeOf(next.getX().getType());
    std::optional<int64_t> axis;
    for (auto [i, start, nextStart] :
         llvm::enumerate(op.getStarts().getExprs(), next.getStarts().getExprs())) {
      if (start == nextStart && shape[i] == nextShape[i])
        continue;
      if (axis || nextStart != start + shape[i])
        return std::nullopt;
      axis = i;
    }
    return axis;
  }
};

/// The parts of a concatenation that one kernel joins.
static constexpr size_t kMaxParts = 32;

static Value concat(OpBuilder &b, ConcatOp op, ValueRange parts) {
  auto joined = ConcatOp::create(b, op.getLoc(), parts, op.getAxisAttr());
  copyPlacement(op, joined);
  return joined;
}

/// concat(a, b, c, d) = concat(concat(a, b), concat(c, d)). Each element of a concatenation is
/// selected among all of its parts, so that many parts are joined in steps.
struct SplitConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    if (op.getXs().size() <= kMaxParts)
      return failure();
    SmallVector<Value> groups;
    for (ValueRange rest = op.getXs(); !rest.empty();) {
      ValueRange group = rest.take_front(kMaxParts);
      rest = rest.drop_front(group.size());
      groups.push_back(concat(rewriter, op, group));
    }
    rewriter.replaceOp(op, concat(rewriter, op, groups));
    return success();
  }
};

/// slice(concat(a, b)) = slice(b), if the slice is inside of one part.
struct SliceOfConcat : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto joined = op.getX().getDefiningOp<ConcatOp>();
    if (!joined)
      return failure();
    Shape starts(op.getStarts().getExprs());
    int64_t axis = *normalizeAxis(joined.getAxis(), starts.size());
    if (op.getSteps() && (*op.getSteps())[axis] != 1)
      return failure();
    DimExpr first = starts[axis], last = first + op.getSizes().getExprs()[axis];
    DimExpr begin(0), end(0);
    for (Value part : joined.getXs()) {
      begin = end;
      end = begin + shapeOf(part.getType())[axis];
      if (isNonNegative(first - begin) != true || isNonNegative(end - last) != true)
        continue;
      starts[axis] = first - begin;
      auto slice =
          SliceOp::create(rewriter, op.getLoc(), part, DimsAttr::get(op.getContext(), starts),
                          op.getSizesAttr(), op.getStepsAttr());
      copyPlacement(op, slice);
      rewriter.replaceOp(op, slice);
      return success();
    }
    return failure();
  }
};

/// slice(reshape(transpose(x))) = reshape(slice(transpose(x))), if the reshape joins axes and the
/// slice takes whole elements of the first of them, as those of the heads of queries, keys and
/// values in one product. Then no reshape needs the transpose in memory.
struct SliceOfReshape : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getX().getDefiningOp<ReshapeOp>();
    if (!reshape || !reshape.getX().getDefiningOp<TransposeOp>())
      return failure();
    Shape from = shapeOf(reshape.getX().getType()), to = shapeOf(reshape.getType());
    if (from.size() <= to.size())
      return failure();
    size_t axis = 0, added = from.size() - to.size();
    while (axis < to.size() && from[axis] == to[axis])
      ++axis;
    if (axis == to.size() ||
        ArrayRef(from).drop_front(axis + added + 1) != ArrayRef(to).drop_front(axis + 1))
      return failure();
    DimExpr inner(1);
    for (size_t i = 1; i <= added; ++i)
      inner = inner * from[axis + i];
    Shape starts(op.getStarts().getExprs()), sizes(op.getSizes().getExprs());
    std::optional<int64_t> count = inner.constant(), start = starts[axis].constant(),
                           size = sizes[axis].constant();
    if (!count || !start || !size || *count == 0 || *start % *count != 0 || *size % *count != 0 ||
        (op.getSteps() && llvm::any_of(*op.getSteps(), [](int64_t step) { return step != 1; })))
      return failure();
    starts[axis] = DimExpr(*start / *count);
    sizes[axis] = DimExpr(*size / *count);
    starts.insert(starts.begin() + axis + 1, added, DimExpr(0));
    sizes.insert(sizes.begin() + axis + 1, from.begin() + axis + 1,
                 from.begin() + axis + added + 1);
    MLIRContext *context = op.getContext();
    auto slice =
        SliceOp::create(rewriter, op.getLoc(), reshape.getX(), DimsAttr::get(context, starts),
                        DimsAttr::get(context, sizes), DenseI64ArrayAttr());
    auto result = ReshapeOp::create(rewriter, op.getLoc(), slice,
                                    DimsAttr::get(context, shapeOf(op.getType())));
    copyPlacement(op, slice);
    copyPlacement(op, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// gather(x, [i, i + step, ...]) = slice(x), if the indices are constants that lie inside of x.
/// Unlike a gather, a slice is a view that its readers read through.
struct GatherOfSlice : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    DenseIntElementsAttr indices;
    Shape shape = shapeOf(op.getX().getType());
    int64_t axis = *normalizeAxis(op.getAxis(), shape.size());
    std::optional<int64_t> size = shape[axis].constant();
    if (!size || !matchPattern(op.getIndices(), m_Constant(&indices)) || indices.empty())
      return failure();
    SmallVector<int64_t> positions;
    for (const APInt &index : indices)
      positions.push_back(index.getLimitedValue(std::numeric_limits<int64_t>::max()));
    int64_t step = positions.size() > 1 ? positions[1] - positions[0] : 1;
    for (auto [i, position] : llvm::enumerate(positions))
      if (position >= *size || position != positions[0] + int64_t(i) * step || step == 0)
        return failure();
    MLIRContext *context = op.getContext();
    SmallVector<DimExpr> starts(shape.size(), DimExpr(0)), sizes(shape);
    SmallVector<int64_t> steps(shape.size(), 1);
    starts[axis] = DimExpr(positions[0]);
    sizes[axis] = DimExpr(positions.size());
    steps[axis] = step;
    auto slice =
        SliceOp::create(rewriter, op.getLoc(), op.getX(), DimsAttr::get(context, starts),
                        DimsAttr::get(context, sizes), rewriter.getDenseI64ArrayAttr(steps));
    auto reshape = ReshapeOp::create(rewriter, op.getLoc(), slice,
                                     DimsAttr::get(context, shapeOf(op.getType())));
    copyPlacement(op, slice);
    copyPlacement(op, reshape);
    rewriter.replaceOp(op, reshape);
    return success();
  }
};

struct SimplifyAlgebraPass : tfc::impl::SimplifyAlgebraBase<SimplifyAlgebraPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AbsorbBroadcast, AddOfPlaces, AbsorbTranspose, BroadcastOfBroadcast,
                 BroadcastOfReshape, GatherOfSlice, ReadOfWrite, ReductionOfScalar, SliceOfConcat,
                 SliceOfReshape, SplitConcat, StackOfUnstack, TransposeOfProduct>(&getContext());
    tfc::addPadPatterns(patterns);
    tfc::addTransposePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
