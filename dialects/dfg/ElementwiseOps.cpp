//===- ElementwiseOps.cpp - Arithmetic, comparison, selection, casts ------===//
//
// Implements arithmetic, comparisons, selection and casts: the folds, gradients and scalar code of
// each. Other elementwise operations are in the files of functions, logic and rounding.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Build.h"
#include "dialects/dfg/Errors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tfc::dfg;

static bool isUnsigned(Value tensor) { return elementTypeOf(tensor.getType()).isUnsignedInteger(); }

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

/// `FloatOp` or `IntOp`, by the type of the scalars.
template <typename FloatOp, typename IntOp>
static Value buildByType(OpBuilder &b, Location loc, ValueRange scalars) {
  if (isFloat(scalars[0]))
    return FloatOp::create(b, loc, scalars[0], scalars[1]);
  return IntOp::create(b, loc, scalars[0], scalars[1]);
}

/// True if `attr` is a constant with `value` in every element.
static bool isSplat(Attribute attr, double value) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!elements || !elements.isSplat())
    return false;
  if (isa<FloatType>(elements.getElementType())) {
    APFloat number = elements.getSplatValue<APFloat>();
    bool losesInfo;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    // The sign matters: -0 is the neutral element of addition, +0 that of subtraction.
    return number.bitwiseIsEqual(APFloat(value));
  }
  return elements.getSplatValue<APInt>().getSExtValue() == int64_t(value);
}

/// `operand` if it has the type of the result of `op`, else null.
static OpFoldResult foldTo(Operation *op, Value operand) {
  return operand.getType() == op->getResult(0).getType() ? OpFoldResult(operand) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// AddOp
//===----------------------------------------------------------------------===//

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // If x is -0, x + 0 is not x, but x + -0 is.
  double zero = isFloat(getLhs()) ? -0.0 : 0.0;
  if (isSplat(adaptor.getRhs(), zero))
    return foldTo(*this, getLhs());
  if (isSplat(adaptor.getLhs(), zero))
    return foldTo(*this, getRhs());
  return {};
}

/// d(a + b) = g, g.
SmallVector<Value> AddOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {resultGrads[0], resultGrads[0]};
}

Value AddOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildByType<arith::AddFOp, arith::AddIOp>(b, getLoc(), scalars);
}

std::optional<SizeTensor> AddOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return combineSizes(operands, [](const DimExpr &a, const DimExpr &b) { return a + b; });
}

//===----------------------------------------------------------------------===//
// SubOp
//===----------------------------------------------------------------------===//

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 0.0))
    return foldTo(*this, getLhs());
  return {};
}

/// d(a - b) = g, -g.
SmallVector<Value> SubOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {resultGrads[0], NegOp::create(b, getLoc(), resultGrads[0])};
}

Value SubOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildByType<arith::SubFOp, arith::SubIOp>(b, getLoc(), scalars);
}

std::optional<SizeTensor> SubOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return combineSizes(operands, [](const DimExpr &a, const DimExpr &b) { return a - b; });
}

//===----------------------------------------------------------------------===//
// MulOp
//===----------------------------------------------------------------------===//

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1.0))
    return foldTo(*this, getLhs());
  if (isSplat(adaptor.getLhs(), 1.0))
    return foldTo(*this, getRhs());
  return {};
}

/// d(a * b) = g * b, g * a.
SmallVector<Value> MulOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {MulOp::create(b, getLoc(), resultGrads[0], getRhs()),
          MulOp::create(b, getLoc(), resultGrads[0], getLhs())};
}

Value MulOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildByType<arith::MulFOp, arith::MulIOp>(b, getLoc(), scalars);
}

std::optional<SizeTensor> MulOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return combineSizes(operands, [](const DimExpr &a, const DimExpr &b) { return a * b; });
}

//===----------------------------------------------------------------------===//
// DivOp
//===----------------------------------------------------------------------===//

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1.0))
    return foldTo(*this, getLhs());
  return {};
}

/// d(a / b) = g / b, -g * y / b, where y is the primal result.
SmallVector<Value> DivOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Value gb = DivOp::create(b, getLoc(), resultGrads[0], getRhs());
  Value gby = MulOp::create(b, getLoc(), gb, getResult());
  return {gb, NegOp::create(b, getLoc(), gby)};
}

Value DivOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return arith::DivFOp::create(b, getLoc(), scalars[0], scalars[1]);
}

//===----------------------------------------------------------------------===//
// MaximumOp, MinimumOp
//===----------------------------------------------------------------------===//

/// The gradient of each operand: g where it is chosen, g / 2 where both are equal.
template <typename ChoosesLhs>
static SmallVector<Value> buildChoiceGradients(OpBuilder &b, Operation *op, Value g) {
  Location loc = op->getLoc();
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  Value zero = scalarLike(b, g, 0.0);
  Value half = MulOp::create(b, loc, g, scalarLike(b, g, 0.5));
  Value isEqual = EqualOp::create(b, loc, lhs, rhs);
  Value isLhs = ChoosesLhs::create(b, loc, lhs, rhs), isRhs = ChoosesLhs::create(b, loc, rhs, lhs);
  auto share = [&](Value chosen) -> Value {
    Value whole = SelectOp::create(b, loc, chosen, g, zero);
    return SelectOp::create(b, loc, isEqual, half, whole);
  };
  return {share(isLhs), share(isRhs)};
}

/// d max(a, b) = g where a > b, g where b > a, each half where equal.
SmallVector<Value> MaximumOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return buildChoiceGradients<GreaterOp>(b, *this, resultGrads[0]);
}

Value MaximumOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  if (isUnsigned(getLhs()))
    return arith::MaxUIOp::create(b, getLoc(), scalars[0], scalars[1]);
  return buildByType<arith::MaximumFOp, arith::MaxSIOp>(b, getLoc(), scalars);
}

std::optional<SizeTensor> MaximumOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return combineSizes(operands,
                      [](const DimExpr &a, const DimExpr &b) { return DimExpr::max(a, b); });
}

/// d min(a, b) = g where a < b, g where b < a, each half where equal.
SmallVector<Value> MinimumOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return buildChoiceGradients<LessOp>(b, *this, resultGrads[0]);
}

Value MinimumOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  if (isUnsigned(getLhs()))
    return arith::MinUIOp::create(b, getLoc(), scalars[0], scalars[1]);
  return buildByType<arith::MinimumFOp, arith::MinSIOp>(b, getLoc(), scalars);
}

std::optional<SizeTensor> MinimumOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return combineSizes(operands,
                      [](const DimExpr &a, const DimExpr &b) { return DimExpr::min(a, b); });
}

//===----------------------------------------------------------------------===//
// PowOp
//===----------------------------------------------------------------------===//

/// d(a ** b) = g * b * a ** (b - 1), g * y * log a (0 where a <= 0).
SmallVector<Value> PowOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Location loc = getLoc();
  Value g = resultGrads[0];
  Value one = scalarLike(b, g, 1.0), zero = scalarLike(b, g, 0.0);
  Value lower = PowOp::create(b, loc, getLhs(), SubOp::create(b, loc, getRhs(), one));
  Value base = MulOp::create(b, loc, g, MulOp::create(b, loc, getRhs(), lower));
  Value isPositive = GreaterOp::create(b, loc, getLhs(), zero);
  Value safe = SelectOp::create(b, loc, isPositive, getLhs(), one);
  Value slope = MulOp::create(b, loc, getResult(), LogOp::create(b, loc, safe));
  Value exponent = SelectOp::create(b, loc, isPositive, MulOp::create(b, loc, g, slope), zero);
  return {base, exponent};
}

Value PowOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::PowFOp::create(b, getLoc(), scalars[0], scalars[1]);
}

//===----------------------------------------------------------------------===//
// NegOp, SquareOp
//===----------------------------------------------------------------------===//

/// d(-x) = -g.
SmallVector<Value> NegOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {NegOp::create(b, getLoc(), resultGrads[0])};
}

Value NegOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  if (isFloat(scalars[0]))
    return arith::NegFOp::create(b, getLoc(), scalars[0]);
  Type type = scalars[0].getType();
  Value zero = arith::ConstantOp::create(b, getLoc(), type, b.getZeroAttr(type));
  return arith::SubIOp::create(b, getLoc(), zero, scalars[0]);
}

std::optional<SizeTensor> NegOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  Shape values;
  for (const DimExpr &value : operands[0]->values)
    values.push_back(DimExpr(0) - value);
  return makeSizes(operands[0]->elementType, operands[0]->shape, std::move(values));
}

/// d(x * x) = 2 g x.
SmallVector<Value> SquareOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Value twice = MulOp::create(b, getLoc(), getX(), scalarLike(b, getX(), 2.0));
  return {MulOp::create(b, getLoc(), resultGrads[0], twice)};
}

Value SquareOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildByType<arith::MulFOp, arith::MulIOp>(b, getLoc(), {scalars[0], scalars[0]});
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

static Value buildCompare(OpBuilder &b, Operation *op, ValueRange scalars,
                          arith::CmpFPredicate onFloat, arith::CmpIPredicate onSigned,
                          arith::CmpIPredicate onUnsigned) {
  if (isFloat(scalars[0]))
    return arith::CmpFOp::create(b, op->getLoc(), onFloat, scalars[0], scalars[1]);
  bool isSigned = !isUnsigned(op->getOperand(0));
  return arith::CmpIOp::create(b, op->getLoc(), isSigned ? onSigned : onUnsigned, scalars[0],
                               scalars[1]);
}

using FloatPredicate = arith::CmpFPredicate;
using IntPredicate = arith::CmpIPredicate;

Value EqualOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildCompare(b, *this, scalars, FloatPredicate::OEQ, IntPredicate::eq, IntPredicate::eq);
}

Value NotEqualOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildCompare(b, *this, scalars, FloatPredicate::UNE, IntPredicate::ne, IntPredicate::ne);
}

Value LessOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildCompare(b, *this, scalars, FloatPredicate::OLT, IntPredicate::slt, IntPredicate::ult);
}

Value LessEqualOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildCompare(b, *this, scalars, FloatPredicate::OLE, IntPredicate::sle, IntPredicate::ule);
}

Value GreaterOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildCompare(b, *this, scalars, FloatPredicate::OGT, IntPredicate::sgt, IntPredicate::ugt);
}

Value GreaterEqualOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildCompare(b, *this, scalars, FloatPredicate::OGE, IntPredicate::sge, IntPredicate::uge);
}

std::optional<SizeTensor> EqualOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return compareSizes(operands, [](int64_t difference) { return difference == 0; });
}

std::optional<SizeTensor> NotEqualOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return compareSizes(operands, [](int64_t difference) { return difference != 0; });
}

std::optional<SizeTensor> LessOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return compareSizes(operands, [](int64_t difference) { return difference < 0; });
}

std::optional<SizeTensor> LessEqualOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return compareSizes(operands, [](int64_t difference) { return difference <= 0; });
}

std::optional<SizeTensor> GreaterOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return compareSizes(operands, [](int64_t difference) { return difference > 0; });
}

std::optional<SizeTensor> GreaterEqualOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return compareSizes(operands, [](int64_t difference) { return difference >= 0; });
}

//===----------------------------------------------------------------------===//
// SelectOp
//===----------------------------------------------------------------------===//

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (failed(checkDtypes(location, "select", Dtypes::Bool, adaptor.getCondition().getType())))
    return failure();
  Type onTrue = adaptor.getOnTrue().getType(), onFalse = adaptor.getOnFalse().getType();
  if (elementTypeOf(onTrue) != elementTypeOf(onFalse))
    return emitErrorAbout(location, "select", "expects operands of one dtype, but got ",
                          toText(onTrue), " and ", toText(onFalse), " [dtype]");
  FailureOr<Shape> shape = inferBroadcast(location, "select", adaptor.getOperands().getTypes());
  if (failed(shape))
    return failure();
  results.push_back(tensorOf(*shape, elementTypeOf(onTrue)));
  return success();
}

/// d select(p, a, b) = select(p, g, 0), select(p, 0, g).
SmallVector<Value> SelectOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Value g = resultGrads[0], zero = scalarLike(b, g, 0.0);
  return {Value(), SelectOp::create(b, getLoc(), getCondition(), g, zero),
          SelectOp::create(b, getLoc(), getCondition(), zero, g)};
}

Value SelectOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return arith::SelectOp::create(b, getLoc(), scalars[0], scalars[1], scalars[2]);
}

std::optional<SizeTensor> SelectOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  auto choose = [](ArrayRef<const DimExpr *> elements) -> std::optional<DimExpr> {
    std::optional<int64_t> condition = elements[0]->constant();
    return condition ? std::optional(*elements[*condition ? 1 : 2]) : std::nullopt;
  };
  return combineElements(operands, operands[1]->elementType, choose);
}

//===----------------------------------------------------------------------===//
// CastOp
//===----------------------------------------------------------------------===//

LogicalResult CastOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  results.push_back(tensorOf(shapeOf(adaptor.getX().getType()), adaptor.getDtype()));
  return success();
}

OpFoldResult CastOp::fold(FoldAdaptor) { return foldTo(*this, getX()); }

/// d cast(x) = cast(g) between floating-point types; nothing flows through integers.
SmallVector<Value> CastOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Type from = elementTypeOf(getX().getType());
  if (!isa<FloatType>(from) || !isa<FloatType>(getDtype()))
    return {Value()};
  return {CastOp::create(b, getLoc(), resultGrads[0], from)};
}

/// Truncates and saturates; NaN becomes 0 (LLVM's saturating conversion). Each clamp is one
/// instruction, because it need not pass NaN on.
static Value buildFloatToInt(OpBuilder &b, Location loc, Value x, Type to, bool isUnsignedTo) {
  unsigned width = to.getIntOrFloatBitWidth();
  APInt low = isUnsignedTo ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  APInt high = isUnsignedTo ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  auto floatType = cast<FloatType>(x.getType());
  auto bound = [&](const APInt &value, bool &isExact) -> Value {
    APFloat number(floatType.getFloatSemantics());
    isExact = number.convertFromAPInt(value, !isUnsignedTo, APFloat::rmTowardZero) == APFloat::opOK;
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(floatType, number));
  };
  auto clamp = [&](Value number, FloatPredicate isInside, Value limit) -> Value {
    Value inside = arith::CmpFOp::create(b, loc, isInside, number, limit);
    return arith::SelectOp::create(b, loc, inside, number, limit);
  };
  bool isLowExact, isHighExact;
  Value least = bound(low, isLowExact), most = bound(high, isHighExact);
  Value number = x;
  // NaN fails the comparison with the lower bound, which is 0 for unsigned integers.
  if (!isUnsignedTo) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(floatType));
    Value isNumber = arith::CmpFOp::create(b, loc, FloatPredicate::ORD, x, x);
    number = arith::SelectOp::create(b, loc, isNumber, x, zero);
  }
  Value safe = clamp(clamp(number, FloatPredicate::OGT, least), FloatPredicate::OLT, most);
  Value result = isUnsignedTo ? arith::FPToUIOp::create(b, loc, to, safe).getResult()
                              : arith::FPToSIOp::create(b, loc, to, safe).getResult();
  if (isHighExact)
    return result;
  // Only numbers above the bound, which is rounded down, saturate.
  Value isHigh = arith::CmpFOp::create(b, loc, FloatPredicate::OGT, x, most);
  Value largest = arith::ConstantOp::create(b, loc, b.getIntegerAttr(to, high));
  return arith::SelectOp::create(b, loc, isHigh, largest, result);
}

/// `to` is the scalar's type in computations: signless, f32 for f16 and bf16.
static Value buildScalarCast(OpBuilder &b, Location loc, Value x, Type to, bool isUnsignedFrom,
                             bool isUnsignedTo) {
  Type from = x.getType();
  if (from == to)
    return x;
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (to.isInteger(1)) {
    Value zero = arith::ConstantOp::create(b, loc, from, b.getZeroAttr(from));
    if (fromFloat)
      return arith::CmpFOp::create(b, loc, FloatPredicate::UNE, x, zero);
    return arith::CmpIOp::create(b, loc, IntPredicate::ne, x, zero);
  }
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  bool zeroExtends = isUnsignedFrom || from.isInteger(1);
  if (fromFloat && toFloat)
    return fromWidth < toWidth ? arith::ExtFOp::create(b, loc, to, x).getResult()
                               : arith::TruncFOp::create(b, loc, to, x).getResult();
  if (toFloat)
    return zeroExtends ? arith::UIToFPOp::create(b, loc, to, x).getResult()
                       : arith::SIToFPOp::create(b, loc, to, x).getResult();
  if (fromFloat)
    return buildFloatToInt(b, loc, x, to, isUnsignedTo);
  if (fromWidth > toWidth)
    return arith::TruncIOp::create(b, loc, to, x);
  return zeroExtends ? arith::ExtUIOp::create(b, loc, to, x).getResult()
                     : arith::ExtSIOp::create(b, loc, to, x).getResult();
}

Value CastOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  Type to = getDtype();
  if (to.isF16() || to.isBF16())
    to = b.getF32Type();
  else if (to.isUnsignedInteger())
    to = b.getIntegerType(to.getIntOrFloatBitWidth());
  return buildScalarCast(b, getLoc(), scalars[0], to, isUnsigned(getX()),
                         getDtype().isUnsignedInteger());
}

std::optional<SizeTensor> CastOp::evaluateSizes(SizeOperands operands, DictionaryAttr attributes) {
  const SizeTensor &x = *operands[0];
  Type type = Adaptor(ValueRange(), attributes).getDtype();
  if (!isa<IntegerType>(type) || (type.isInteger(1) && !x.elementType.isInteger(1)))
    return std::nullopt;
  return makeSizes(type, x.shape, x.values);
}

//===----------------------------------------------------------------------===//
// StopGradientOp
//===----------------------------------------------------------------------===//

LogicalResult StopGradientOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                               Adaptor adaptor, SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getX().getType());
  return success();
}

/// The purpose of the operation is that no gradient flows.
SmallVector<Value> StopGradientOp::buildOperandGradients(OpBuilder &, ValueRange) {
  return {Value()};
}

SmallVector<Value> StopGradientOp::decompose(OpBuilder &) { return {getX()}; }
