// Implements the rules of ragged tensors in variants, and of the operations into which
// RaggedVariants.cpp turns these. Their names begin with an underscore.

#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

/// RaggedVariants.cpp replaces operations of which it finds the ragged tensor.
static Outcome buildStray(NodeBuilder &node, const OpRule &) {
  return node.fail("its input 0 does not lead to a ragged tensor [graph-edge]");
}

/// `argument` names a function in graph source that takes all inputs.
static Outcome buildByFunction(NodeBuilder &node, const OpRule &rule) {
  return node.doneWith(node.library().on(rule.argument, node.allInputs()));
}

static std::optional<DimExpr> rowsAt(NodeBuilder &node, unsigned i) {
  NodeValue splits = node.in(i);
  if (!splits)
    return std::nullopt;
  dfg::Shape shape = dfg::shapeOf(splits.getType());
  if (shape.size() == 1)
    return shape.front() - DimExpr(1);
  node.error() << "expected splits, but got " << dfg::toText(splits.getType()) << " [operand]";
  return std::nullopt;
}

static Outcome buildRowCount(NodeBuilder &node, const OpRule &) {
  std::optional<DimExpr> rows = rowsAt(node, 0);
  Type type = node.dtype("out_type");
  if (!rows || !type)
    return Outcome::Failed;
  node.followInput(0);
  return node.done({NodeValue(node.flag("is_shape") ? *dfg::makeSizeVector(type, {*rows})
                                                    : *dfg::makeSize(type, *rows))});
}

/// The lengths are those of rows or, for `holds_splits`, of their splits.
static Outcome buildOuterSplits(NodeBuilder &node, const OpRule &) {
  NodeValue lengths = node.in(0);
  Type type = node.dtype("Tsplits");
  if (!lengths || !type)
    return Outcome::Failed;
  if (node.flag("holds_splits"))
    lengths = node.op("sub", {lengths, node.scalar(1, IntegerType::get(node.context(), 64))});
  return node.done({node.cast(node.library().compute("_splits", {lengths}), type)});
}

/// The values of the rows of which the gradients are known, or of all rows.
static Outcome buildGradient(NodeBuilder &node, const OpRule &) {
  NodeValue values = node.in(0);
  std::optional<dfg::Shape> shape = node.dims(1);
  if (!values || !shape)
    return Outcome::Failed;
  if (shape->size() != dfg::shapeOf(values.getType()).size())
    return node.fail("expected values of {} axes, but got {} [operand]", shape->size(),
                     dfg::toText(values.getType()));
  if (node.numInputs() == 4 && !shape->empty()) {
    values = node.library().compute("_rows_at", {values, node.in(2), node.in(3)},
                                    {{"count", dfg::Shape{shape->front()}}});
  }
  return node.done({node.ensureSizes(values, *shape)});
}

static constexpr OpRule kRules[] = {
    {"RaggedTensorToVariant", "RAGGED_RANK+1 -> 1; RAGGED_RANK:int>=0, batched_input:bool?",
     buildStray},
    {"RaggedTensorFromVariant",
     "1 -> output_ragged_rank+1; output_ragged_rank:int>=0, input_ragged_rank:int?", buildStray},
    {"RaggedTensorToVariantGradient", "3 -> 1", buildStray},
    {"_RowCount", "1 -> 1; out_type:type", buildRowCount},
    {"_RowLengths", "1 -> 1", buildByFunction, "_row_lengths"},
    {"_RowRange", "2 -> 2", buildByFunction, "_row_range"},
    {"_SplitsBetween", "3 -> 3", buildByFunction, "_splits_between"},
    {"_ValuesBetween", "3 -> 1", buildByFunction, "_values_between"},
    {"_OuterSplits", "1 -> 1; Tsplits:type", buildOuterSplits},
    {"_InnerSplits", "2 -> 1", buildByFunction, "_inner_splits"},
    {"_RaggedGradient", "2-4 -> 1", buildGradient},
};

ArrayRef<OpRule> raggedRules() { return kRules; }

} // namespace tfc::tensorflow
