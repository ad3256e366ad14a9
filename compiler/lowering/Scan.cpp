//===- Scan.cpp - Scans to linalg -----------------------------------------===//
//
// Lowers scans to `linalg_ext.scan`, because linalg cannot express that an element depends on the
// one before it.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "dialects/dfg/ScanOps.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;
namespace linalg_ext = tfc::linalg_ext;

namespace {
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

/// Keeps the running value in the compute type and rounds it where it is stored. `Derived` defines
/// the initial value and the step of a scan of type `Op`.
template <typename Op, typename Derived> struct ScanLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  /// True if the initial value is neutral and steps combine running values, too.
  static bool isAssociative(Type state) { return true; }

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX();
    Shape shape = shapeOf(op.getType());
    int64_t axis = *normalizeAxis(op.getAxis(), shape.size());
    Type type = storedElement(x), state = computeType(type);
    Type elementType = elementTypeOf(op.getType());
    Value init =
        arith::ConstantOp::create(rewriter, loc, Derived::start(rewriter, state, elementType));
    Type resultType = RankedTensorType::get(cast<RankedTensorType>(x.getType()).getShape(), state);
    auto scan = linalg_ext::ScanOp::create(
        rewriter, loc, resultType, init, adaptor.getOperands(), rewriter.getI64IntegerAttr(axis),
        unitIf(rewriter, op.getExclusive()), unitIf(rewriter, op.getReverse()),
        unitIf(rewriter, Derived::isAssociative(state)));
    SmallVector<Type> arguments(1 + adaptor.getOperands().size(), type);
    arguments.front() = state;
    buildRegion(rewriter, loc, scan.getCombine(), arguments, [&](OpBuilder &b, ValueRange scalars) {
      SmallVector<Value> elements;
      for (Value element : scalars.drop_front())
        elements.push_back(widen(b, loc, element));
      return Derived::step(b, loc, scalars.front(), elements, elementType);
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
  static TypedAttr start(OpBuilder &b, Type state, Type) { return b.getZeroAttr(state); }
  static Value step(OpBuilder &b, Location loc, Value sum, ValueRange elements, Type) {
    return add(b, loc, sum, elements[0]);
  }
};

struct CumprodLowering : ScanLowering<CumprodOp, CumprodLowering> {
  using ScanLowering::ScanLowering;
  /// Products of later elements may overflow where those of all elements do not.
  static bool isAssociative(Type state) { return isa<IntegerType>(state); }
  static TypedAttr start(OpBuilder &b, Type state, Type) { return b.getOneAttr(state); }
  static Value step(OpBuilder &b, Location loc, Value product, ValueRange elements, Type) {
    return multiply(b, loc, product, elements[0]);
  }
};

struct LinearRecurrenceLowering : ScanLowering<LinearRecurrenceOp, LinearRecurrenceLowering> {
  using ScanLowering::ScanLowering;
  static bool isAssociative(Type state) { return false; }
  static TypedAttr start(OpBuilder &b, Type state, Type) { return b.getZeroAttr(state); }
  static Value step(OpBuilder &b, Location loc, Value last, ValueRange elements, Type) {
    return add(b, loc, multiply(b, loc, elements[0], last), elements[1]);
  }
};

/// Lowers cummax if `isMax` is set, else cummin.
template <typename Op, bool isMax> struct ExtremeScan : ScanLowering<Op, ExtremeScan<Op, isMax>> {
  using ScanLowering<Op, ExtremeScan>::ScanLowering;
  static TypedAttr start(OpBuilder &b, Type, Type elementType) {
    return extremeValue(b, elementType, /*isSmallest=*/isMax);
  }
  static Value step(OpBuilder &b, Location loc, Value last, ValueRange elements, Type elementType) {
    return buildExtreme(b, loc, last, elements[0], isMax, elementType);
  }
};

/// log(exp(a) + exp(x)) is the larger one plus log1p(exp(-distance)). The distance of equal
/// infinities is NaN; the result is then the larger one.
struct LogcumsumexpLowering : ScanLowering<LogcumsumexpOp, LogcumsumexpLowering> {
  using ScanLowering::ScanLowering;
  static TypedAttr start(OpBuilder &b, Type, Type elementType) {
    return extremeValue(b, elementType, /*isSmallest=*/true);
  }
  static Value step(OpBuilder &b, Location loc, Value last, ValueRange elements, Type) {
    Value larger = buildExtreme(b, loc, last, elements[0], /*isMax=*/true, last.getType());
    Value smaller = buildExtreme(b, loc, last, elements[0], /*isMax=*/false, last.getType());
    Value distance = arith::SubFOp::create(b, loc, smaller, larger);
    Value rest = math::Log1pOp::create(b, loc, math::ExpOp::create(b, loc, distance));
    Value sum = arith::AddFOp::create(b, loc, larger, rest);
    Value isInfinite = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, distance, distance);
    return arith::SelectOp::create(b, loc, isInfinite, larger, sum);
  }
};
} // namespace

void tfc::lowering::populateScanPatterns(TensorConverter &types, RewritePatternSet &patterns) {
  patterns.add<CumsumLowering, CumprodLowering, LinearRecurrenceLowering, LogcumsumexpLowering,
               ExtremeScan<CummaxOp, true>, ExtremeScan<CumminOp, false>>(types,
                                                                          patterns.getContext());
}
