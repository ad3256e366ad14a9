// Finds tensors of any size all of whose elements are the same constant.

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/FoldElement.h"
#include "frontend/importer/Reals.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llvm;

namespace tfc::importer {

/// Longer chains are not followed.
static constexpr unsigned kMaxDepth = 16;

namespace {
/// Finds the elements of tensors all of whose elements are the same constant, for each value once.
class UniformEvaluator {
public:
  /// Returns null for another tensor.
  Attribute evaluate(Value value, unsigned depth = 0);

private:
  Attribute compute(Operation *op, unsigned depth);

  llvm::DenseMap<Value, Attribute> known;
};
} // namespace

Attribute UniformEvaluator::compute(Operation *op, unsigned depth) {
  if (isa<dfg::ReshapeOp, dfg::ExpandOp, dfg::SqueezeOp, dfg::TransposeOp, dfg::SliceOp,
          dfg::TileOp, dfg::BroadcastOp>(op))
    return evaluate(op->getOperand(0), depth + 1);
  auto elementwise = dyn_cast<dfg::ScalarOpInterface>(op);
  if (!elementwise || op->getNumOperands() == 0)
    return {};
  SmallVector<Attribute> elements;
  for (Value operand : op->getOperands())
    elements.push_back(evaluate(operand, depth + 1));
  return is_contained(elements, Attribute()) ? Attribute()
                                             : dfg::foldElement(elementwise, elements);
}

Attribute UniformEvaluator::evaluate(Value value, unsigned depth) {
  ElementsAttr constant;
  if (!value || !value.getDefiningOp() || depth > kMaxDepth)
    return {};
  if (matchPattern(value, m_Constant(&constant)))
    return constant.isSplat() ? constant.getSplatValue<Attribute>() : Attribute();
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Attribute element = compute(value.getDefiningOp(), depth);
  known[value] = element;
  return element;
}

Attribute evaluateUniform(Value value) { return UniformEvaluator().evaluate(value); }

} // namespace tfc::importer
