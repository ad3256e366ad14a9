// Implements the rules of discrete Fourier transforms.

#include "frontend/onnx/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

/// `argument` says where the axis is: an attribute, or input 2.
static Outcome buildDft(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.inOfRank(0, 2);
  std::optional<int64_t> given = node.node.number("axis", 1);
  if (rule.argument == "input")
    given = node.hasInput(2) ? node.integer(2) : -2;
  auto axis = x && given ? node.axisOf(*given, rankOf(x)) : std::nullopt;
  if (!axis)
    return Outcome::Failed;
  if (*axis + 1 == rankOf(x))
    return node.fail("expected an axis other than the last one, which holds the parts of complex "
                     "numbers [axis]");
  std::optional<dfg::Shape> length = dfg::Shape{DimExpr(0)};
  if (node.hasInput(1))
    length = node.dims(1);
  if (!length)
    return Outcome::Failed;
  if (length->size() != 1)
    return node.fail("expected one number as the length [graph-edge]");
  // That of the axis is the default.
  if (length->front() == shapeOf(x)[*axis] && !node.flag("inverse"))
    length->front() = 0;
  return node.done({node.library().compute(
      "_dft", {x}, {{"along", dfg::Shape{DimExpr(*axis)}}, {"length", *length}})});
}

static constexpr OpRule kRules[] = {
    {"DFT", "1-2 -> 1; axis:int?, inverse:int?, onesided:int?", buildDft, "attribute", 17},
    {"DFT", "1-3 -> 1; inverse:int?, onesided:int?", buildDft, "input", 20},
};

ArrayRef<OpRule> signalRules() { return kRules; }

} // namespace tfc::onnx
