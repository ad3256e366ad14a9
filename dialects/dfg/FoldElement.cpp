// Folds an operation through its scalar computation, which is what kernels execute, so that a
// single folder serves all operations.
#include "dialects/dfg/FoldElement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tfc::dfg {

static FloatAttr rounded(APFloat value, FloatType to) {
  bool losesInfo;
  value.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return FloatAttr::get(to, value);
}

/// Returns `value`, or a zero of the same sign if it is denormal.
static Attribute flushed(Attribute value) {
  auto number = dyn_cast<FloatAttr>(value);
  if (!number || !number.getValue().isDenormal())
    return value;
  const llvm::fltSemantics &semantics = number.getValue().getSemantics();
  return FloatAttr::get(number.getType(),
                        APFloat::getZero(semantics, number.getValue().isNegative()));
}

/// Returns an element as the scalar with which a kernel computes: floats have at least 32 bits, and
/// integers no sign.
static TypedAttr toScalar(Attribute element) {
  Builder b(element.getContext());
  if (auto number = dyn_cast<FloatAttr>(element)) {
    auto type = cast<FloatType>(number.getType());
    FloatType wide = type.getWidth() < 32 ? b.getF32Type() : type;
    return cast<TypedAttr>(flushed(rounded(number.getValue(), wide)));
  }
  APInt number = cast<IntegerAttr>(element).getValue();
  return b.getIntegerAttr(b.getIntegerType(number.getBitWidth()), number);
}

static Attribute fromScalar(Attribute scalar, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return rounded(cast<FloatAttr>(scalar).getValue(), floatType);
  return IntegerAttr::get(type, cast<IntegerAttr>(scalar).getValue());
}

/// Folds the operations of `block` in order and returns the value of `result`, or null if some
/// operation does not fold.
static Attribute foldBlock(Block &block, Value result) {
  DenseMap<Value, Attribute> values;
  for (Operation &op : block) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    SmallVector<OpFoldResult> folded;
    Attribute constant;
    if (matchPattern(&op, m_Constant(&constant)))
      folded.push_back(constant);
    else if (failed(op.fold(operands, folded)) || folded.size() != op.getNumResults())
      return {};
    for (auto [value, fold] : llvm::zip(op.getResults(), folded)) {
      auto attr = dyn_cast<Attribute>(fold);
      values[value] = attr ? flushed(attr) : values.lookup(cast<Value>(fold));
      if (!values[value])
        return {};
    }
  }
  return values.lookup(result);
}

/// Takes the bits of an element as `type`. Kernels keep denormal numbers here.
static Attribute bitcast(Attribute element, Type type) {
  auto number = dyn_cast<FloatAttr>(element);
  APInt bits = number ? number.getValue().bitcastToAPInt() : cast<IntegerAttr>(element).getValue();
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat(floatType.getFloatSemantics(), bits));
  return IntegerAttr::get(type, bits);
}

Attribute foldElement(ScalarOpInterface op, ArrayRef<Attribute> elements) {
  if (auto bits = dyn_cast<BitcastOp>(op.getOperation()))
    return bitcast(elements.front(), bits.getDtype());
  op.getContext()->loadDialect<arith::ArithDialect, math::MathDialect>();
  Block block;
  OpBuilder b(op.getContext());
  b.setInsertionPointToEnd(&block);
  SmallVector<Value> arguments;
  for (Attribute element : elements)
    arguments.push_back(arith::ConstantOp::create(b, op.getLoc(), toScalar(element)));
  Attribute result = foldBlock(block, op.buildScalar(b, arguments));
  return result ? fromScalar(result, elementTypeOf(op->getResult(0).getType())) : Attribute();
}

} // namespace tfc::dfg
