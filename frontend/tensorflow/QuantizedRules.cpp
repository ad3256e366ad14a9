// Quantised tensors with a varying number of inputs; the other quantised operations are functions
// in tensorflow_quantized.graph.

#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// The inputs are the axis, all tensors, then the lows and the highs of their ranges.
static Outcome buildQuantizedConcat(NodeBuilder &node, const OpRule &) {
  std::optional<int64_t> axis = node.integer(0);
  SmallVector<Value> inputs = node.valuesOf(node.allInputs(1));
  if (!axis || is_contained(inputs, Value()))
    return Outcome::Failed;
  size_t count = inputs.size() / 3;
  auto part = [&](size_t i) {
    ArrayRef<Value> values = ArrayRef(inputs).slice(i * count, count);
    return SmallVector<Value>(values.begin(), values.end());
  };
  return node.doneWith(node.library().on("_quantized_concat", {},
                                         {{"values", part(0)},
                                          {"lows", part(1)},
                                          {"highs", part(2)},
                                          {"axis", dfg::Shape{dfg::DimExpr(*axis)}}}));
}

static constexpr OpRule kRules[] = {
    {"QuantizedConcat", "3N+1 -> 3; N:int>=1", buildQuantizedConcat},
};

ArrayRef<OpRule> quantizedRules() { return kRules; }

} // namespace tfc::tensorflow
