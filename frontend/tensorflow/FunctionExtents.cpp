// Counts the nodes that functions become and finds those that call themselves, so that the reader
// refuses them before it has copied a million nodes.

#include "frontend/tensorflow/FunctionExtents.h"

#include "frontend/tensorflow/Inliner.h"
#include "llvm/ADT/SmallVector.h"
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

static SmallVector<StringRef> calleesOf(const wire::Node &node) {
  SmallVector<StringRef> names;
  auto add = [&](const char *attr) {
    if (const wire::Attr *value = findAttr(node.attr(), attr))
      names.push_back(value->func().name());
  };
  switch (callKindOf(node.op())) {
  case CallKind::None:
    names.push_back(node.op());
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
        names.push_back(branch.name());
    break;
  case CallKind::While:
    add("cond");
    add("body");
    break;
  }
  return names;
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
  for (const wire::Node &node : function.node_def())
    for (StringRef name : calleesOf(node)) {
      const wire::Function *callee = library.lookup(name);
      if (!callee || level == kMaxDepth)
        continue;
      const FunctionExtent &inner = of(*callee, level + 1);
      extent.nodes = std::min(extent.nodes + inner.nodes, kMostNodes);
      extent.levels = std::max(extent.levels, inner.levels + 1);
      if (!extent.recursive)
        extent.recursive = inner.recursive;
    }
  extent.isOpen = false;
  return extent;
}

} // namespace tfc::tensorflow
