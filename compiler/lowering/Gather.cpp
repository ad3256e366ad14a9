//===- Gather.cpp - Elements at computed places to linalg -----------------===//

#include "compiler/lowering/Lowering.h"
#include "dialects/dfg/ScanOps.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;
namespace linalg_ext = tfc::linalg_ext;

static Type storedElement(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Gives `region` a block with these arguments, whose end is what `body` returns.
static void buildBody(OpBuilder &b, Location loc, Region &region, TypeRange arguments,
                      BodyBuilder body) {
  OpBuilder::InsertionGuard guard(b);
  Block *block =
      b.createBlock(&region, region.end(), arguments, SmallVector<Location>(arguments.size(), loc));
  Value result = body(b, block->getArguments());
  linalg_ext::YieldOp::create(b, loc, result);
}

namespace {
//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

/// An index out of range reads row 0; the check has failed the call then, or the element becomes 0.
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
          if (op.getOutside() != "skip")
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

/// `combine` gets the old element and the update and returns the new one, in the compute type.
static Value buildScatter(OpBuilder &b, Operation *op, Value x, Value indices, Value updates,
                          BodyBuilder combine) {
  Location loc = op->getLoc();
  Shape places = shapeOf(op->getOperand(1).getType()), vectors = places;
  vectors.push_back(DimExpr(1));
  Value expanded = buildReshape(b, loc, indices, places, vectors);
  auto scatter = linalg_ext::ScatterOp::create(b, loc, x.getType(), updates, x, expanded);
  Type type = storedElement(x);
  buildBody(b, loc, scatter.getCombine(), {type, type}, [&](OpBuilder &b, ValueRange scalars) {
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

//===----------------------------------------------------------------------===//
// Argsort
//===----------------------------------------------------------------------===//

/// Sorts the elements together with their positions.
struct ArgsortLowering : OpConversionPattern<ArgsortOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ArgsortOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX();
    Shape shape = shapeOf(op.getX().getType());
    int64_t axis = *normalizeAxis(op.getAxis(), shape.size());
    Type key = storedElement(x), position = rewriter.getI64Type();
    Value positions = buildParallel(rewriter, loc, {}, {}, shape, position,
                                    [&](OpBuilder &b, ValueRange) -> Value {
                                      Value index = linalg::IndexOp::create(b, loc, axis);
                                      return arith::IndexCastOp::create(b, loc, position, index);
                                    });
    SmallVector<Value> inputs = {x, positions};
    auto sort = linalg_ext::SortOp::create(rewriter, loc, TypeRange(ValueRange(inputs)), inputs,
                                           rewriter.getI64IntegerAttr(axis));
    bool isUnsigned = elementTypeOf(op.getX().getType()).isUnsignedInteger();
    buildBody(rewriter, loc, sort.getBefore(), {key, key, position, position},
              [&](OpBuilder &b, ValueRange scalars) {
                Value x = widen(b, loc, scalars[0]), y = widen(b, loc, scalars[1]);
                Value isBefore = buildBefore(b, loc, x, y, isUnsigned);
                Value isAfter = buildBefore(b, loc, y, x, isUnsigned);
                Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, scalars[2],
                                                      scalars[3]);
                // Equal elements keep their order.
                Value isTied = arith::XOrIOp::create(
                    b, loc, isAfter, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
                Value isEarlier = arith::AndIOp::create(b, loc, isTied, isFirst);
                return arith::OrIOp::create(b, loc, isBefore, isEarlier).getResult();
              });
    rewriter.replaceOp(op, sort.getSorted()[1]);
    return success();
  }

  /// Whether x stands before y: less, or a number before NaN.
  static Value buildBefore(OpBuilder &b, Location loc, Value x, Value y, bool isUnsigned) {
    if (!isa<FloatType>(x.getType())) {
      auto predicate = isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
      return arith::CmpIOp::create(b, loc, predicate, x, y);
    }
    Value isLess = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
    Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, x, x);
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, y, y);
    Value isBeforeNan = arith::AndIOp::create(b, loc, isNumber, isNan);
    return arith::OrIOp::create(b, loc, isLess, isBeforeNan);
  }
};

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

static Value add(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::AddFOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

static Value multiply(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::MulFOp::create(b, loc, x, y);
  return arith::MulIOp::create(b, loc, x, y);
}

/// The value so far, in the compute type; rounded where it is stored. A scan of type `Op` says in
/// `Derived` where it starts and how it goes on.
template <typename Op, typename Derived> struct ScanLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX();
    Shape shape = shapeOf(op.getType());
    int64_t axis = *normalizeAxis(op.getAxis(), shape.size());
    Type type = storedElement(x), state = computeType(type);
    Value init = arith::ConstantOp::create(rewriter, loc, Derived::start(rewriter, state));
    Type resultType = RankedTensorType::get(cast<RankedTensorType>(x.getType()).getShape(), state);
    auto scan = linalg_ext::ScanOp::create(
        rewriter, loc, resultType, init, adaptor.getOperands(), rewriter.getI64IntegerAttr(axis),
        unitIf(rewriter, op.getExclusive()), unitIf(rewriter, op.getReverse()));
    SmallVector<Type> arguments(1 + adaptor.getOperands().size(), type);
    arguments.front() = state;
    buildBody(rewriter, loc, scan.getCombine(), arguments, [&](OpBuilder &b, ValueRange scalars) {
      SmallVector<Value> elements;
      for (Value element : scalars.drop_front())
        elements.push_back(widen(b, loc, element));
      return Derived::step(b, loc, scalars.front(), elements);
    });
    Value result = scan.getResult();
    if (state != type)
      result =
          buildParallel(rewriter, loc, result, rewriter.getMultiDimIdentityMap(shape.size()), shape,
                        type, [](OpBuilder &, ValueRange scalars) { return scalars[0]; });
    rewriter.replaceOp(op, result);
    return success();
  }

  static UnitAttr unitIf(OpBuilder &b, bool holds) { return holds ? b.getUnitAttr() : UnitAttr(); }
};

struct CumsumLowering : ScanLowering<CumsumOp, CumsumLowering> {
  using ScanLowering::ScanLowering;
  static TypedAttr start(OpBuilder &b, Type state) { return b.getZeroAttr(state); }
  static Value step(OpBuilder &b, Location loc, Value sum, ValueRange elements) {
    return add(b, loc, sum, elements[0]);
  }
};

struct CumprodLowering : ScanLowering<CumprodOp, CumprodLowering> {
  using ScanLowering::ScanLowering;
  static TypedAttr start(OpBuilder &b, Type state) { return b.getOneAttr(state); }
  static Value step(OpBuilder &b, Location loc, Value product, ValueRange elements) {
    return multiply(b, loc, product, elements[0]);
  }
};

struct LinearRecurrenceLowering : ScanLowering<LinearRecurrenceOp, LinearRecurrenceLowering> {
  using ScanLowering::ScanLowering;
  static TypedAttr start(OpBuilder &b, Type state) { return b.getZeroAttr(state); }
  static Value step(OpBuilder &b, Location loc, Value last, ValueRange elements) {
    return add(b, loc, multiply(b, loc, elements[0], last), elements[1]);
  }
};
} // namespace

void tfc::lowering::populateGatherPatterns(TensorConverter &types, RewritePatternSet &patterns) {
  patterns.add<ArgsortLowering, GatherLowering, ScatterAddLowering, ScatterUpdateLowering,
               CumsumLowering, CumprodLowering, LinearRecurrenceLowering>(types,
                                                                          patterns.getContext());
}
