//===- Gather.cpp - Gathers and scatters to linalg ------------------------===//
//
// Lowers gathers to reads at computed indices, and scatters to `linalg_ext.scatter`, because
// several updates may have the same position.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "dialects/dfg/ScatterOps.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;
namespace linalg_ext = tfc::linalg_ext;

namespace {
//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

/// An out-of-range index reads row 0. Either a check has failed the call before, or the element
/// becomes 0.
struct GatherLowering : OpConversionPattern<GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(GatherOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX();
    Shape shape = shapeOf(op.getType()), from = shapeOf(op.getX().getType());
    int64_t axis = *normalizeAxis(op.getAxis(), from.size());
    int64_t count = shapeOf(op.getIndices().getType()).size();
    SmallVector<AffineExpr> places;
    for (int64_t i = 0; i < count; ++i)
      places.push_back(rewriter.getAffineDimExpr(axis + i));
    AffineMap map = AffineMap::get(shape.size(), 0, places, getContext());
    Value size = buildSize(rewriter, loc, from[axis]);
    Value result = buildParallel(
        rewriter, loc, adaptor.getIndices(), map, shape, storedElement(x),
        [&](OpBuilder &b, ValueRange scalars) -> Value {
          Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), scalars[0]);
          Value isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, size);
          Value zero = arith::ConstantIndexOp::create(b, loc, 0);
          SmallVector<Value> indices;
          for (int64_t i = 0; i < int64_t(shape.size()); ++i)
            if (i < axis || i >= axis + count)
              indices.push_back(linalg::IndexOp::create(b, loc, i));
          Value safe = arith::SelectOp::create(b, loc, isInside, index, zero);
          indices.insert(indices.begin() + axis, safe);
          Value element = tensor::ExtractOp::create(b, loc, x, indices);
          if (op.getOutside() != Outside::Skip)
            return element;
          Type type = element.getType();
          Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
          return arith::SelectOp::create(b, loc, isInside, element, none);
        },
        /*widenInputs=*/false);
    rewriter.replaceOp(op, result);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// `combine` receives the old element and the update, and returns the new element in the compute
/// type.
static Value buildScatter(OpBuilder &b, Operation *op, Value x, Value indices, Value updates,
                          BodyBuilder combine) {
  Location loc = op->getLoc();
  Shape places = shapeOf(op->getOperand(1).getType()), vectors = places;
  vectors.push_back(DimExpr(1));
  Value expanded = buildReshape(b, loc, indices, places, vectors);
  auto scatter = linalg_ext::ScatterOp::create(b, loc, x.getType(), updates, x, expanded);
  Type type = storedElement(x);
  buildRegion(b, loc, scatter.getCombine(), {type, type}, [&](OpBuilder &b, ValueRange scalars) {
    Value result = combine(b, {widen(b, loc, scalars[0]), widen(b, loc, scalars[1])});
    return narrow(b, loc, result, type);
  });
  return scatter.getResult();
}

struct ScatterAddLowering : OpConversionPattern<ScatterAddOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ScatterAddOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value result =
        buildScatter(rewriter, op, adaptor.getX(), adaptor.getIndices(), adaptor.getUpdates(),
                     [&](OpBuilder &b, ValueRange scalars) -> Value {
                       if (isa<FloatType>(scalars[0].getType()))
                         return arith::AddFOp::create(b, op.getLoc(), scalars[0], scalars[1]);
                       return arith::AddIOp::create(b, op.getLoc(), scalars[0], scalars[1]);
                     });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Returns the larger one, the smaller one or the product, as the operation defines it.
static Value combineBy(OpBuilder &b, ScatterReduceOp op, Value x, Value y) {
  Location loc = op.getLoc();
  bool isFloat = isa<FloatType>(x.getType());
  if (op.getMode() == ScatterMode::Mul)
    return isFloat ? arith::MulFOp::create(b, loc, x, y).getResult()
                   : arith::MulIOp::create(b, loc, x, y).getResult();
  return buildExtreme(b, loc, x, y, op.getMode() == ScatterMode::Max, elementTypeOf(op.getType()));
}

struct ScatterReduceLowering : OpConversionPattern<ScatterReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ScatterReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value result = buildScatter(
        rewriter, op, adaptor.getX(), adaptor.getIndices(), adaptor.getUpdates(),
        [&](OpBuilder &b, ValueRange scalars) { return combineBy(b, op, scalars[0], scalars[1]); });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ScatterUpdateLowering : OpConversionPattern<ScatterUpdateOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ScatterUpdateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value result =
        buildScatter(rewriter, op, adaptor.getX(), adaptor.getIndices(), adaptor.getUpdates(),
                     [](OpBuilder &, ValueRange scalars) { return scalars[1]; });
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void tfc::lowering::populateGatherPatterns(TensorConverter &types, RewritePatternSet &patterns) {
  patterns.add<GatherLowering, ScatterAddLowering, ScatterReduceLowering, ScatterUpdateLowering>(
      types, patterns.getContext());
}
