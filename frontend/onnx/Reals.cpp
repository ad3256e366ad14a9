// Evaluates arithmetic on constants, with which models compute sizes and limits in floats.

#include "frontend/onnx/Reals.h"

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/SizeTensor.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using Reals = SmallVector<double>;

/// Longer chains are not followed.
static constexpr unsigned kMaxDepth = 16;

static std::optional<Reals> evaluate(Value value, unsigned depth);

static std::optional<Reals> constantReals(ElementsAttr elements) {
  if (elements.getNumElements() > dfg::SizeTensor::kMaxElements)
    return std::nullopt;
  Reals numbers;
  bool isSigned = !elements.getElementType().isUnsignedInteger();
  // Constants in files have no iterators.
  if (auto floats = elements.tryGetValues<APFloat>())
    for (const APFloat &number : *floats)
      numbers.push_back(number.convertToDouble());
  else if (auto integers = elements.tryGetValues<APInt>())
    for (const APInt &number : *integers)
      numbers.push_back(number.roundToDouble(isSigned));
  else
    return std::nullopt;
  return numbers;
}

/// Rounds to the precision of a type.
static double roundTo(Type type, double number) {
  auto floats = dyn_cast<FloatType>(type);
  if (!floats)
    return std::trunc(number);
  APFloat rounded(number);
  bool losesInfo;
  rounded.convert(floats.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.convertToDouble();
}

/// Returns what an operation on one number computes, or std::nullopt for others.
static std::optional<double> applyUnary(Operation *op, double x) {
  if (isa<dfg::CastOp, dfg::ReshapeOp, dfg::ExpandOp, dfg::SqueezeOp>(op))
    return x;
  StringRef name = op->getName().stripDialect();
  if (name == "neg")
    return -x;
  if (name == "floor")
    return std::floor(x);
  if (name == "ceil")
    return std::ceil(x);
  if (name == "relu")
    return std::max(x, 0.0);
  if (name == "sqrt")
    return std::sqrt(x);
  return std::nullopt;
}

static std::optional<double> applyBinary(StringRef name, double x, double y) {
  if (name == "add")
    return x + y;
  if (name == "sub")
    return x - y;
  if (name == "mul")
    return x * y;
  if (name == "div" && y != 0)
    return x / y;
  if (name == "maximum")
    return std::max(x, y);
  if (name == "minimum")
    return std::min(x, y);
  return std::nullopt;
}

/// Operands have the same number of elements, or one.
static std::optional<Reals> combine(Operation *op, const Reals &x, const Reals &y) {
  size_t count = std::max(x.size(), y.size());
  if ((x.size() != count && x.size() != 1) || (y.size() != count && y.size() != 1))
    return std::nullopt;
  Reals results;
  for (size_t i = 0; i < count; ++i) {
    auto result = applyBinary(op->getName().stripDialect(), x[x.size() == 1 ? 0 : i],
                              y[y.size() == 1 ? 0 : i]);
    if (!result)
      return std::nullopt;
    results.push_back(*result);
  }
  return results;
}

static std::optional<Reals> applyOperation(Operation *op, unsigned depth) {
  std::optional<Reals> x = evaluate(op->getOperand(0), depth + 1);
  if (!x)
    return std::nullopt;
  if (op->getNumOperands() == 2) {
    std::optional<Reals> y = evaluate(op->getOperand(1), depth + 1);
    return y ? combine(op, *x, *y) : std::nullopt;
  }
  for (double &number : *x) {
    std::optional<double> result = applyUnary(op, number);
    if (!result)
      return std::nullopt;
    number = *result;
  }
  return x;
}

static std::optional<Reals> evaluate(Value value, unsigned depth) {
  ElementsAttr elements;
  if (!value || depth > kMaxDepth || !isa<RankedTensorType>(value.getType()))
    return std::nullopt;
  if (matchPattern(value, m_Constant(&elements)))
    return constantReals(elements);
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || op->getNumOperands() < 1 || op->getNumOperands() > 2)
    return std::nullopt;
  std::optional<Reals> results = applyOperation(op, depth);
  if (results)
    for (double &number : *results)
      number = roundTo(dfg::elementTypeOf(value.getType()), number);
  return results;
}

std::optional<Reals> evaluateReals(Value value) { return evaluate(value, 0); }

} // namespace tfc::onnx
