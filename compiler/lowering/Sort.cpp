//===- Sort.cpp - Orders to linalg ----------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "dialects/dfg/SortOps.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;
namespace linalg_ext = tfc::linalg_ext;

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

/// How elements are ordered together with their positions.
struct Order {
  bool isDescending;
  /// Whether equal elements keep their order; else they change it.
  bool isStable;
  /// How many elements at the end have to be in order; all, if none is given.
  std::optional<int64_t> limit;
};

/// The positions along `axis` of the elements of `x`, which has the type of `source`, in order.
static Value buildOrder(OpBuilder &b, Value source, Value x, int64_t axis, const Order &order) {
  Location loc = source.getLoc();
  Type key = storedElement(x), position = b.getI64Type();
  Value positions = buildParallel(b, loc, {}, {}, shapeOf(source.getType()), position,
                                  [&](OpBuilder &b, ValueRange) -> Value {
                                    Value index = linalg::IndexOp::create(b, loc, axis);
                                    return arith::IndexCastOp::create(b, loc, position, index);
                                  });
  SmallVector<Value> inputs = {x, positions};
  auto sort = linalg_ext::SortOp::create(
      b, loc, TypeRange(ValueRange(inputs)), inputs, b.getI64IntegerAttr(axis),
      order.limit ? b.getI64IntegerAttr(*order.limit) : IntegerAttr());
  bool isUnsigned = elementTypeOf(source.getType()).isUnsignedInteger();
  buildRegion(b, loc, sort.getBefore(), {key, key, position, position},
              [&](OpBuilder &b, ValueRange scalars) {
                Value x = widen(b, loc, scalars[0]), y = widen(b, loc, scalars[1]);
                if (order.isDescending)
                  std::swap(x, y);
                Value isBefore = buildBefore(b, loc, x, y, isUnsigned);
                Value isAfter = buildBefore(b, loc, y, x, isUnsigned);
                auto predicate =
                    order.isStable ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sgt;
                Value isFirst = arith::CmpIOp::create(b, loc, predicate, scalars[2], scalars[3]);
                Value isTied = arith::XOrIOp::create(
                    b, loc, isAfter, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
                Value isEarlier = arith::AndIOp::create(b, loc, isTied, isFirst);
                return arith::OrIOp::create(b, loc, isBefore, isEarlier).getResult();
              });
  return sort.getSorted()[1];
}

namespace {
struct ArgsortLowering : OpConversionPattern<ArgsortOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ArgsortOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    int64_t axis = *normalizeAxis(op.getAxis(), shapeOf(op.getX().getType()).size());
    Order order = {/*isDescending=*/false, /*isStable=*/true, std::nullopt};
    rewriter.replaceOp(op, buildOrder(rewriter, op.getX(), adaptor.getX(), axis, order));
    return success();
  }
};

/// A sort that puts the first elements last, because those at the end are in order before the
/// others; read backwards. A `k` above the size reads what it finds: the check has failed the call
/// then.
struct ArgTopKLowering : OpConversionPattern<ArgTopKOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ArgTopKOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Shape shape = shapeOf(op.getX().getType());
    int64_t axis = *normalizeAxis(op.getAxis(), shape.size());
    Order order = {!op.getLargest(), /*isStable=*/false, op.getK().getExprs()[0].constant()};
    Value sorted = buildOrder(rewriter, op.getX(), adaptor.getX(), axis, order);
    Value size = buildSize(rewriter, loc, shape[axis]);
    Value result = buildParallel(rewriter, loc, {}, {}, shapeOf(op.getType()),
                                 rewriter.getI32Type(), [&](OpBuilder &b, ValueRange) -> Value {
                                   SmallVector<Value> place;
                                   for (int64_t i = 0; i < int64_t(shape.size()); ++i)
                                     place.push_back(linalg::IndexOp::create(b, loc, i));
                                   Value one = arith::ConstantIndexOp::create(b, loc, 1);
                                   Value zero = arith::ConstantIndexOp::create(b, loc, 0);
                                   Value last = arith::SubIOp::create(b, loc, size, one);
                                   Value at = arith::SubIOp::create(b, loc, last, place[axis]);
                                   place[axis] = arith::MaxSIOp::create(b, loc, at, zero);
                                   Value position =
                                       tensor::ExtractOp::create(b, loc, sorted, place);
                                   return arith::TruncIOp::create(b, loc, b.getI32Type(), position);
                                 });
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

void tfc::lowering::populateSortPatterns(TensorConverter &types, RewritePatternSet &patterns) {
  patterns.add<ArgsortLowering, ArgTopKLowering>(types, patterns.getContext());
}
