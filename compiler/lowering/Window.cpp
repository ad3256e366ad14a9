//===- Window.cpp - Windows along axes to linalg --------------------------===//
//
// Lowers windows to access maps, or to reads at computed indices if they may lie outside of the
// operand.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "dialects/dfg/WindowOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;

/// Returns the number for axis `axis` from an optional list of one number or one per axis.
static int64_t numberFor(std::optional<ArrayRef<int64_t>> numbers, size_t axis) {
  if (!numbers)
    return 1;
  return numbers->size() == 1 ? numbers->front() : (*numbers)[axis];
}

static Value buildIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

/// Returns true if a tensor of the shape is always empty.
static bool isEmpty(ArrayRef<DimExpr> shape) {
  return llvm::any_of(shape, [](const DimExpr &size) { return size.isConstant(0); });
}

static Value buildScaled(OpBuilder &b, Location loc, Value index, int64_t factor) {
  if (factor == 1)
    return index;
  return arith::MulIOp::create(b, loc, index, buildIndex(b, loc, factor));
}

namespace {
/// Reads the operand at window * stride + tap * dilation by an access map. With `low`, elements
/// outside of the operand are the padding value, so indices are computed.
struct WindowsLowering : OpConversionPattern<WindowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(WindowsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Shape from = shapeOf(op.getX().getType()), shape = shapeOf(op.getType());
    size_t rank = op.getSize().getSizes().size();
    Value x = adaptor.getX();
    // Linalg rejects maps that read an empty operand.
    if (isEmpty(from) || isEmpty(shape)) {
      Type type = cast<RankedTensorType>(x.getType()).getElementType();
      Value outside = buildNumber(rewriter, op.getLoc(), type, op.getValue().convertToDouble());
      rewriter.replaceOp(op, buildFill(rewriter, op.getLoc(), outside, shape));
      return success();
    }
    if (op.getLow()) {
      rewriter.replaceOp(op, readMasked(op, x, from, shape, rewriter));
      return success();
    }
    SmallVector<AffineExpr> exprs{rewriter.getAffineDimExpr(0)};
    for (size_t i = 0; i < rank; ++i)
      exprs.push_back(rewriter.getAffineDimExpr(1 + i) * numberFor(op.getStride(), i) +
                      rewriter.getAffineDimExpr(1 + rank + i) * numberFor(op.getDilation(), i));
    for (size_t i = 1 + rank; i < from.size(); ++i)
      exprs.push_back(rewriter.getAffineDimExpr(rank + i));
    AffineMap map = AffineMap::get(shape.size(), 0, exprs, getContext());
    rewriter.replaceOp(op, buildParallel(
                               rewriter, op.getLoc(), x, map, shape,
                               cast<RankedTensorType>(x.getType()).getElementType(),
                               [](OpBuilder &, ValueRange scalars) { return scalars[0]; },
                               /*widenInputs=*/false));
    return success();
  }

  static Value readMasked(WindowsOp op, Value x, ArrayRef<DimExpr> from, ArrayRef<DimExpr> shape,
                          OpBuilder &b) {
    Location loc = op.getLoc();
    Type type = cast<RankedTensorType>(x.getType()).getElementType();
    Value outside = buildNumber(b, loc, type, op.getValue().convertToDouble());
    size_t rank = op.getSize().getSizes().size();
    SmallVector<Value> low, sizes;
    for (size_t i = 0; i < rank; ++i) {
      low.push_back(buildSize(b, loc, op.getLow()->getExprs()[i]));
      sizes.push_back(buildSize(b, loc, from[1 + i]));
    }
    auto body = [&](OpBuilder &b, ValueRange) -> Value {
      SmallVector<Value> indices{linalg::IndexOp::create(b, loc, 0)};
      Value isInside;
      for (size_t i = 0; i < rank; ++i) {
        Value window = linalg::IndexOp::create(b, loc, 1 + i);
        Value tap = linalg::IndexOp::create(b, loc, 1 + rank + i);
        Value place = buildScaled(b, loc, window, numberFor(op.getStride(), i));
        Value reach = buildScaled(b, loc, tap, numberFor(op.getDilation(), i));
        place = arith::AddIOp::create(b, loc, place, reach);
        place = arith::SubIOp::create(b, loc, place, low[i]);
        // As an unsigned number, a negative position is out of bounds, too.
        Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, place, sizes[i]);
        indices.push_back(buildClamp(b, loc, place, sizes[i]));
        isInside = isInside ? arith::AndIOp::create(b, loc, isInside, isHere).getResult() : isHere;
      }
      for (size_t i = 1 + rank; i < from.size(); ++i)
        indices.push_back(linalg::IndexOp::create(b, loc, rank + i));
      Value element = tensor::ExtractOp::create(b, loc, x, indices);
      return arith::SelectOp::create(b, loc, isInside, element, outside);
    };
    return buildParallel(b, loc, {}, {}, shape, type, body, /*widenInputs=*/false);
  }
};

/// Each element is taken from the window whose tap is placed there, or is the padding value.
struct PlaceWindowsLowering : OpConversionPattern<PlaceWindowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(PlaceWindowsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX();
    Shape from = shapeOf(op.getX().getType()), shape = shapeOf(op.getType());
    Type type = cast<RankedTensorType>(x.getType()).getElementType();
    Value rest = buildNumber(rewriter, loc, type, op.getValue().convertToDouble());
    if (isEmpty(from)) {
      rewriter.replaceOp(op, buildFill(rewriter, loc, rest, shape));
      return success();
    }
    size_t rank = op.getShape().getSizes().size();
    SmallVector<Value> low, counts;
    for (size_t i = 0; i < rank; ++i) {
      low.push_back(
          buildSize(rewriter, loc, op.getLow() ? op.getLow()->getExprs()[i] : DimExpr(0)));
      counts.push_back(buildSize(rewriter, loc, from[1 + i]));
    }
    auto body = [&](OpBuilder &b, ValueRange) -> Value {
      SmallVector<Value> indices{linalg::IndexOp::create(b, loc, 0)};
      Value isHit;
      for (size_t i = 0; i < rank; ++i) {
        Value place = linalg::IndexOp::create(b, loc, 1 + i);
        Value tap = linalg::IndexOp::create(b, loc, 1 + rank + i);
        Value reach = buildScaled(b, loc, tap, numberFor(op.getDilation(), i));
        Value distance = arith::AddIOp::create(b, loc, place, low[i]);
        distance = arith::SubIOp::create(b, loc, distance, reach);
        auto [window, isHere] =
            findWindow(b, loc, distance, counts[i], numberFor(op.getStride(), i));
        indices.push_back(window);
        isHit = isHit ? arith::AndIOp::create(b, loc, isHit, isHere).getResult() : isHere;
      }
      for (size_t i = 1 + rank; i < shape.size(); ++i)
        indices.push_back(linalg::IndexOp::create(b, loc, i));
      Value element = tensor::ExtractOp::create(b, loc, x, indices);
      return arith::SelectOp::create(b, loc, isHit, element, rest);
    };
    rewriter.replaceOp(op, buildParallel(rewriter, loc, {}, {}, shape, type, body,
                                         /*widenInputs=*/false));
    return success();
  }

  /// Returns the window that starts `distance` after the first one, and whether there is one.
  static std::pair<Value, Value> findWindow(OpBuilder &b, Location loc, Value distance, Value count,
                                            int64_t stride) {
    Value zero = buildIndex(b, loc, 0), window = distance;
    Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, distance, zero);
    if (stride != 1) {
      Value width = buildIndex(b, loc, stride);
      window = arith::DivSIOp::create(b, loc, distance, width);
      Value rest = arith::RemSIOp::create(b, loc, distance, width);
      Value isStart = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, zero);
      isHere = arith::AndIOp::create(b, loc, isHere, isStart);
    }
    Value isBelow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, window, count);
    return {buildClamp(b, loc, window, count), arith::AndIOp::create(b, loc, isHere, isBelow)};
  }
};
} // namespace

void tfc::lowering::populateWindowPatterns(TensorConverter &types, RewritePatternSet &patterns) {
  patterns.add<PlaceWindowsLowering, WindowsLowering>(types, patterns.getContext());
}
