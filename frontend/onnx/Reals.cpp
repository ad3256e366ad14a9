// Evaluates elementwise arithmetic on constants, with which models compute scales and limits as
// floats. Sizes, which are integers, are evaluated while nodes are built (dfg::SizeTensor).

#include "frontend/onnx/Reals.h"

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/FoldElement.h"
#include "dialects/dfg/SizeTensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using Elements = SmallVector<Attribute>;

/// Longer chains are not followed.
static constexpr unsigned kMaxDepth = 16;

static std::optional<Elements> evaluate(Value value, unsigned depth);

static std::optional<Elements> constantElements(ElementsAttr constant) {
  if (constant.getNumElements() > dfg::SizeTensor::kMaxElements)
    return std::nullopt;
  // Constants in files have no iterators.
  auto values = constant.tryGetValues<Attribute>();
  return values ? std::optional(Elements(values->begin(), values->end())) : std::nullopt;
}

/// Evaluates the operands of `op`, all with the same number of elements or one. Returns the
/// elements of the result.
static std::optional<Elements> applyElementwise(dfg::ScalarOpInterface op, unsigned depth) {
  SmallVector<Elements> operands;
  size_t count = 1;
  for (Value operand : op->getOperands()) {
    std::optional<Elements> elements = evaluate(operand, depth + 1);
    if (!elements || elements->empty())
      return std::nullopt;
    count = std::max(count, elements->size());
    operands.push_back(std::move(*elements));
  }
  if (any_of(operands, [&](const Elements &x) { return x.size() != count && x.size() != 1; }))
    return std::nullopt;
  Elements results;
  for (size_t i = 0; i < count; ++i) {
    auto element = [&](const Elements &x) { return x[x.size() == 1 ? 0 : i]; };
    results.push_back(dfg::foldElement(op, map_to_vector(operands, element)));
    if (!results.back())
      return std::nullopt;
  }
  return results;
}

/// The elements of several vectors.
static std::optional<Elements> concatenate(dfg::ConcatOp op, unsigned depth) {
  if (cast<RankedTensorType>(op.getType()).getRank() != 1)
    return std::nullopt;
  Elements results;
  for (Value operand : op->getOperands()) {
    std::optional<Elements> elements = evaluate(operand, depth + 1);
    if (!elements)
      return std::nullopt;
    append_range(results, *elements);
  }
  return results;
}

/// Returns the elements of a value in row-major order; std::nullopt if they are not known.
static std::optional<Elements> evaluate(Value value, unsigned depth) {
  ElementsAttr constant;
  if (!value || depth > kMaxDepth || !isa<RankedTensorType>(value.getType()))
    return std::nullopt;
  if (matchPattern(value, m_Constant(&constant)))
    return constantElements(constant);
  Operation *op = value.getDefiningOp();
  if (isa_and_present<dfg::ReshapeOp, dfg::ExpandOp, dfg::SqueezeOp>(op))
    return evaluate(op->getOperand(0), depth + 1);
  if (auto concat = dyn_cast_if_present<dfg::ConcatOp>(op))
    return concatenate(concat, depth);
  auto elementwise = dyn_cast_if_present<dfg::ScalarOpInterface>(op);
  return elementwise ? applyElementwise(elementwise, depth) : std::nullopt;
}

static double toDouble(Attribute element) {
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValueAsDouble();
  auto integer = cast<IntegerAttr>(element);
  return integer.getValue().roundToDouble(!integer.getType().isUnsignedInteger());
}

std::optional<SmallVector<double>> evaluateReals(Value value) {
  std::optional<Elements> elements = evaluate(value, 0);
  if (!elements)
    return std::nullopt;
  return map_to_vector(*elements, toDouble);
}

} // namespace tfc::onnx
