// Functions of rules that are the same in several formats, for the node builder and the rules of
// each.
#pragma once

#include "frontend/importer/NodeBuilder.h"

namespace tfc::importer {

/// `argument` names the dfg operation, which takes all inputs.
template <typename Builder, typename Rule> Outcome buildOperation(Builder &node, const Rule &rule) {
  return node.done({node.op(rule.argument, node.allInputs())});
}

/// `argument` names the dfg operation for floats; on integers, rounding is the identity.
template <typename Builder, typename Rule> Outcome buildRounding(Builder &node, const Rule &rule) {
  NodeValue x = node.in(0);
  bool isFloat = x && llvm::isa<mlir::FloatType>(dfg::elementTypeOf(x.getType()));
  return node.done({isFloat ? node.op(rule.argument, x) : x});
}

/// `argument` names the dfg operation, which runs along the axis in input 1.
template <typename Builder, typename Rule> Outcome buildScan(Builder &node, const Rule &rule) {
  std::optional<int64_t> axis = node.integer(1);
  if (!axis)
    return Outcome::Failed;
  return node.done({node.op(rule.argument, node.in(0),
                            {node.attrs.integer("axis", *axis),
                             node.attrs.flag("exclusive", node.flag("exclusive")),
                             node.attrs.flag("reverse", node.flag("reverse"))})});
}

/// Input 1 has the number of repetitions along each axis.
template <typename Builder, typename Rule> Outcome buildTile(Builder &node, const Rule &) {
  std::optional<dfg::Shape> repeats = node.dims(1);
  return repeats ? node.done({node.op("tile", node.in(0), node.attrs.sizes("repeats", *repeats))})
                 : Outcome::Failed;
}

/// Returns the value of the i64 variable `name`, which counts the draws of a node, and adds 1 to
/// it. Creates the variable if there is none.
template <typename Builder> NodeValue countDraws(Builder &node, llvm::StringRef name) {
  ResourceBuilder &resources = node.builder().getResources();
  auto type = mlir::RankedTensorType::get({}, mlir::IntegerType::get(node.context(), 64));
  // A body may be built several times.
  if (!mlir::SymbolTable::lookupSymbolIn(node.builder().getModule(), name))
    resources.createVariable(name, type, /*isFrozen=*/true, "", node.location());
  NodeValue count = node.record([&] { return resources.read(name, type, node.location()); });
  mlir::Value next = node.valueOf(node.op("add", {count, node.scalar(1, type.getElementType())}));
  if (next)
    node.record([&] { return resources.assign(name, next, node.location()); });
  return count;
}

} // namespace tfc::importer
