//===- View.cpp - Slices, placements and concatenations to linalg ---------===//
//
// Lowers slices, placements and concatenations, to access maps where linalg would infer the right
// loops from them, and otherwise to reads at computed indices.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;

static SmallVector<int64_t> stepsOf(std::optional<ArrayRef<int64_t>> steps, int64_t rank) {
  return steps ? SmallVector<int64_t>(*steps) : SmallVector<int64_t>(rank, 1);
}

static SmallVector<Value> buildSizes(OpBuilder &b, Location loc, ArrayRef<DimExpr> shape) {
  SmallVector<Value> sizes;
  for (const DimExpr &size : shape)
    sizes.push_back(buildSize(b, loc, size));
  return sizes;
}

static Value buildIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

namespace {
//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

/// Uses an access map if the starts are constant, unless linalg would infer the slice's size as the
/// operand's; otherwise reads elements at computed indices.
struct SliceLowering : OpConversionPattern<SliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(SliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Shape starts = op.getStarts().getExprs(), shape = shapeOf(op.getType());
    SmallVector<int64_t> steps = stepsOf(op.getSteps(), shape.size());
    Shape from = shapeOf(op.getX().getType());
    bool isMap = llvm::all_of(llvm::seq<size_t>(0, shape.size()), [&](size_t i) {
      bool isPlain = starts[i].isConstant(0) && steps[i] == 1;
      return starts[i].constant() && !shape[i].isConstant(0) && (!isPlain || shape[i] == from[i]);
    });
    if (isMap)
      rewriter.replaceOp(op, readByMap(op, adaptor.getX(), starts, steps, rewriter));
    else
      rewriter.replaceOp(op, readByIndex(op, adaptor.getX(), starts, steps, rewriter));
    return success();
  }

  /// Returns true if all elements are known to be within an axis of size `from`.
  static bool isInside(const DimExpr &start, const DimExpr &size, int64_t step,
                       const DimExpr &from) {
    DimExpr last = start + (size - 1) * step;
    DimExpr least = step < 0 ? last : start, most = step < 0 ? start : last;
    return isNonNegative(least) == true && isNonNegative(from - 1 - most) == true;
  }

  static Value readByMap(SliceOp op, Value x, ArrayRef<DimExpr> starts, ArrayRef<int64_t> steps,
                         OpBuilder &b) {
    SmallVector<AffineExpr> exprs;
    for (size_t i = 0; i < starts.size(); ++i)
      exprs.push_back(b.getAffineDimExpr(i) * steps[i] + *starts[i].constant());
    AffineMap map = AffineMap::get(starts.size(), 0, exprs, b.getContext());
    return buildParallel(
        b, op.getLoc(), x, map, shapeOf(op.getType()), storedElement(x),
        [](OpBuilder &, ValueRange scalars) { return scalars[0]; }, /*widenInputs=*/false);
  }

  static Value readByIndex(SliceOp op, Value x, ArrayRef<DimExpr> starts, ArrayRef<int64_t> steps,
                           OpBuilder &b) {
    Location loc = op.getLoc();
    Shape from = shapeOf(op.getX().getType()), shape = shapeOf(op.getType());
    SmallVector<Value> origin = buildSizes(b, loc, starts), sizes = buildSizes(b, loc, from);
    return buildParallel(
        b, loc, {}, {}, shapeOf(op.getType()), storedElement(x),
        [&](OpBuilder &b, ValueRange) -> Value {
          SmallVector<Value> indices;
          for (size_t i = 0; i < steps.size(); ++i) {
            Value index = linalg::IndexOp::create(b, loc, i);
            // If the axis is taken whole, its index is the loop's.
            if (starts[i].isConstant(0) && steps[i] == 1 && shape[i] == from[i]) {
              indices.push_back(index);
              continue;
            }
            if (steps[i] != 1)
              index = arith::MulIOp::create(b, loc, index, buildIndex(b, loc, steps[i]));
            index = arith::AddIOp::create(b, loc, index, origin[i]);
            bool isSafe = isInside(starts[i], shape[i], steps[i], from[i]);
            indices.push_back(isSafe ? index : buildClamp(b, loc, index, sizes[i]));
          }
          return tensor::ExtractOp::create(b, loc, x, indices);
        },
        /*widenInputs=*/false);
  }
};

//===----------------------------------------------------------------------===//
// Place
//===----------------------------------------------------------------------===//

/// Each element of the result is the element of `x` that is placed there, or the padding value.
struct PlaceLowering : OpConversionPattern<PlaceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(PlaceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX();
    Shape from = shapeOf(op.getX().getType()), shape = shapeOf(op.getType());
    SmallVector<int64_t> steps = stepsOf(op.getSteps(), shape.size());
    Type type = storedElement(x);
    Value rest = buildNumber(rewriter, loc, type, op.getValue().convertToDouble());
    if (llvm::any_of(from, [](const DimExpr &size) { return size.isConstant(0); })) {
      rewriter.replaceOp(op, buildFill(rewriter, loc, rest, shape));
      return success();
    }
    SmallVector<Value> origin = buildSizes(rewriter, loc, op.getStarts().getExprs());
    SmallVector<Value> sizes = buildSizes(rewriter, loc, from);
    Value result = buildParallel(
        rewriter, loc, {}, {}, shape, type,
        [&](OpBuilder &b, ValueRange) -> Value {
          Value isInside;
          SmallVector<Value> indices;
          for (size_t i = 0; i < shape.size(); ++i) {
            // Using the loop index for an unchanged axis keeps accesses along it contiguous.
            if (op.getStarts().getExprs()[i].isConstant(0) && steps[i] == 1 &&
                from[i] == shape[i]) {
              indices.push_back(linalg::IndexOp::create(b, loc, i));
              continue;
            }
            auto [index, isHit] = findSource(b, loc, i, origin[i], sizes[i], steps[i]);
            indices.push_back(index);
            isInside =
                isInside ? arith::AndIOp::create(b, loc, isInside, isHit).getResult() : isHit;
          }
          Value element = tensor::ExtractOp::create(b, loc, x, indices);
          return isInside ? arith::SelectOp::create(b, loc, isInside, element, rest).getResult()
                          : element;
        },
        /*widenInputs=*/false);
    rewriter.replaceOp(op, result);
    return success();
  }

  /// Returns the index in `x` along one axis, and whether an element of `x` is placed at the loop
  /// index.
  static std::pair<Value, Value> findSource(OpBuilder &b, Location loc, int64_t axis, Value origin,
                                            Value size, int64_t step) {
    Value index = linalg::IndexOp::create(b, loc, axis);
    Value distance = step > 0 ? arith::SubIOp::create(b, loc, index, origin)
                              : arith::SubIOp::create(b, loc, origin, index);
    Value source = distance, zero = buildIndex(b, loc, 0);
    Value isHit = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, distance, zero);
    if (int64_t stride = std::abs(step); stride != 1) {
      Value width = buildIndex(b, loc, stride);
      source = arith::DivSIOp::create(b, loc, distance, width);
      Value rest = arith::RemSIOp::create(b, loc, distance, width);
      Value isMultiple = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, zero);
      isHit = arith::AndIOp::create(b, loc, isHit, isMultiple);
    }
    Value isBelow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, source, size);
    isHit = arith::AndIOp::create(b, loc, isHit, isBelow);
    return {buildClamp(b, loc, source, size), isHit};
  }
};

//===----------------------------------------------------------------------===//
// Concat
//===----------------------------------------------------------------------===//

/// Each element is selected among the operands by its index along the axis.
struct ConcatLowering : OpConversionPattern<ConcatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ConcatOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Shape shape = shapeOf(op.getType());
    int64_t axis = *normalizeAxis(op.getAxis(), shape.size());
    SmallVector<Value> parts, starts, sizes;
    DimExpr start(0);
    for (auto [x, part] : llvm::zip(op.getXs(), adaptor.getXs())) {
      DimExpr size = shapeOf(x.getType())[axis];
      if (size.isConstant(0))
        continue;
      parts.push_back(part);
      starts.push_back(buildSize(rewriter, loc, start));
      sizes.push_back(buildSize(rewriter, loc, size));
      start = start + size;
    }
    if (parts.empty()) {
      rewriter.replaceOp(op, adaptor.getXs()[0]);
      return success();
    }
    Value result = buildParallel(
        rewriter, loc, {}, {}, shape, storedElement(parts[0]),
        [&](OpBuilder &b, ValueRange) {
          return buildChoice(b, loc, shape.size(), axis, parts, starts, sizes);
        },
        /*widenInputs=*/false);
    rewriter.replaceOp(op, result);
    return success();
  }

  static Value buildChoice(OpBuilder &b, Location loc, int64_t rank, int64_t axis,
                           ArrayRef<Value> parts, ArrayRef<Value> starts, ArrayRef<Value> sizes) {
    SmallVector<Value> indices;
    for (int64_t i = 0; i < rank; ++i)
      indices.push_back(linalg::IndexOp::create(b, loc, i));
    Value position = indices[axis], chosen;
    for (size_t k = parts.size(); k-- > 0;) {
      Value local = arith::SubIOp::create(b, loc, position, starts[k]);
      indices[axis] = buildClamp(b, loc, local, sizes[k]);
      Value element = tensor::ExtractOp::create(b, loc, parts[k], indices);
      if (!chosen) {
        chosen = element;
        continue;
      }
      Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, local, sizes[k]);
      chosen = arith::SelectOp::create(b, loc, isHere, element, chosen);
    }
    return chosen;
  }
};
} // namespace

void tfc::lowering::populateViewPatterns(TensorConverter &types, RewritePatternSet &patterns) {
  patterns.add<ConcatLowering, PlaceLowering, SliceLowering>(types, patterns.getContext());
}
