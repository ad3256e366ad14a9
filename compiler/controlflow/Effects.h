//===- Effects.h - Side effects of nodes ----------------------------------===//

#pragma once

#include "compiler/controlflow/Graph.h"

namespace tfc::controlflow {

struct Effect {
  /// The resource that is read or written, and its symbol if it has one.
  mlir::TypeID resource;
  mlir::Attribute symbol;
  bool isWrite;
};

struct Effects {
  /// The effects are unknown, so they conflict with all others.
  bool isUnknown = false;
  llvm::SmallVector<Effect> known;

  bool any() const { return isUnknown || !known.empty(); }
};

Effects effectsOf(const Node &node);
inline bool hasEffects(const Node &node) { return effectsOf(node).any(); }

/// Returns true if the order of two nodes matters.
bool conflict(const Effects &a, const Effects &b);

} // namespace tfc::controlflow
