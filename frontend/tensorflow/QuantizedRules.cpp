// Quantised tensors with a varying number of inputs; the other quantised operations are functions
// in tensorflow_quantized.graph.

#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// The inputs are the axis, all tensors, then the lows and the highs of their ranges.
static Outcome buildQuantizedConcat(NodeBuilder &node, const OpRule &) {
  std::optional<int64_t> axis = node.integer(0);
  auto lists = node.listsFrom(1, 3);
  if (!axis || !lists)
    return Outcome::Failed;
  return node.doneWith(node.library().on("_quantized_concat", {},
                                         {{"values", (*lists)[0]},
                                          {"lows", (*lists)[1]},
                                          {"highs", (*lists)[2]},
                                          {"axis", dfg::Shape{dfg::DimExpr(*axis)}}}));
}

static constexpr OpRule kRules[] = {
    {"QuantizedConcat", "3N+1 -> 3; N:int>=1", buildQuantizedConcat},
};

ArrayRef<OpRule> quantizedRules() { return kRules; }

} // namespace tfc::tensorflow
