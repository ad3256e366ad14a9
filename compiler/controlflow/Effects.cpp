//===- Effects.cpp - Side effects of nodes --------------------------------===//
//
// Collects the side effects of nodes and decides which of them conflict. The structuring of loops
// and the order of nodes depend on the same answer, so it is apart from both.
//
//===----------------------------------------------------------------------===//

#include "compiler/controlflow/Effects.h"

using namespace mlir;

namespace tfc::controlflow {

static void append(Effects &effects, const Effects &more) {
  effects.isUnknown |= more.isUnknown;
  llvm::append_range(effects.known, more.known);
}

static Effects effectsOf(Operation *op) {
  Effects effects;
  auto instances = getEffectsRecursively(op);
  if (!instances) {
    effects.isUnknown = true;
    return effects;
  }
  for (const MemoryEffects::EffectInstance &instance : *instances)
    effects.known.push_back({instance.getResource()->getResourceID(), instance.getSymbolRef(),
                             !isa<MemoryEffects::Read>(instance.getEffect())});
  return effects;
}

Effects effectsOf(const Node &node) {
  if (node.ghostOf)
    return {};
  if (node.kind == Kind::Plain)
    return effectsOf(node.op);
  Effects effects;
  if (node.kind == Kind::Loop) {
    for (Node *inner : node.loop->head)
      append(effects, effectsOf(*inner));
    for (Node *inner : node.loop->body)
      append(effects, effectsOf(*inner));
  }
  return effects;
}

bool conflict(const Effects &a, const Effects &b) {
  if (a.isUnknown || b.isUnknown)
    return a.any() && b.any();
  for (const Effect &first : a.known)
    for (const Effect &second : b.known)
      if ((first.isWrite || second.isWrite) && first.resource == second.resource &&
          (!first.symbol || !second.symbol || first.symbol == second.symbol))
        return true;
  return false;
}

} // namespace tfc::controlflow
