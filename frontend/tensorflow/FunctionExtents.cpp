// Counts the nodes that functions become and finds those that call themselves, so that the reader
// refuses them before it has copied a million nodes.

#include "frontend/tensorflow/FunctionExtents.h"

#include "frontend/tensorflow/Inliner.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tfc::tensorflow {

CallKind callKindOf(StringRef op) {
  return StringSwitch<CallKind>(op)
      .Cases({"PartitionedCall", "StatefulPartitionedCall"}, CallKind::Call)
      .Cases({"If", "StatelessIf"}, CallKind::If)
      .Cases({"Case", "StatelessCase"}, CallKind::Case)
      .Cases({"While", "StatelessWhile"}, CallKind::While)
      .Default(CallKind::None);
}

SmallVector<FunctionAttr> functionAttrsOf(const wire::Node &node) {
  SmallVector<FunctionAttr> attrs;
  auto add = [&](const char *name) {
    const wire::Attr *value = findAttr(node.attr(), name);
    attrs.push_back({name, value ? &value->func() : nullptr});
  };
  switch (callKindOf(node.op())) {
  case CallKind::None:
    break;
  case CallKind::Call:
    add("f");
    break;
  case CallKind::If:
    add("then_branch");
    add("else_branch");
    break;
  case CallKind::Case:
    if (const wire::Attr *branches = findAttr(node.attr(), "branches"))
      for (const wire::Attr::Function &branch : branches->list().func())
        attrs.push_back({"branches", &branch});
    break;
  case CallKind::While:
    add("cond");
    add("body");
    break;
  }
  return attrs;
}

const FunctionExtent &FunctionExtents::of(const wire::Function &function, unsigned level) {
  auto [known, isNew] = extents.try_emplace(&function);
  FunctionExtent &extent = known->second;
  if (!isNew) {
    if (extent.isOpen)
      extent.recursive = &function;
    return extent;
  }
  extent.nodes = function.node_def_size();
  auto add = [&](StringRef name) {
    const wire::Function *callee = library.lookup(name);
    if (!callee || level == kMaxDepth)
      return;
    const FunctionExtent &inner = of(*callee, level + 1);
    extent.nodes = std::min(extent.nodes + inner.nodes, kMaxNodes + 1);
    extent.levels = std::max(extent.levels, inner.levels + 1);
    if (!extent.recursive)
      extent.recursive = inner.recursive;
  };
  for (const wire::Node &node : function.node_def()) {
    if (callKindOf(node.op()) == CallKind::None)
      add(node.op());
    for (const FunctionAttr &attr : functionAttrsOf(node))
      if (attr.value)
        add(attr.value->name());
  }
  extent.isOpen = false;
  return extent;
}

} // namespace tfc::tensorflow
