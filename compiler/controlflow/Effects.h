//===- Effects.h - What a node does besides giving values -------------------===//

#pragma once

#include "compiler/controlflow/Graph.h"

namespace tfc::controlflow {

struct Effect {
  /// What is read or written, and its symbol if it has one.
  mlir::TypeID resource;
  mlir::Attribute symbol;
  bool isWrite;
};

struct Effects {
  /// May do anything.
  bool isUnknown = false;
  llvm::SmallVector<Effect> known;

  bool any() const { return isUnknown || !known.empty(); }
};

Effects effectsOf(const Node &node);
inline bool hasEffects(const Node &node) { return effectsOf(node).any(); }

/// Whether the order of two nodes matters.
bool conflict(const Effects &a, const Effects &b);

} // namespace tfc::controlflow
