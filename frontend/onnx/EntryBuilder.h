// Builds the nodes of a model's graphs.
#pragma once

#include "frontend/onnx/EntryContext.h"

namespace tfc::onnx {

class EntryBuilder {
public:
  explicit EntryBuilder(EntryContext &entry) : entry(entry) {}

  /// Builds the model's graph as an entry, or emits errors.
  void build();
  /// Builds a graph at the current position. It sees the values of `outer`. Returns its outputs, or
  /// std::nullopt after errors, which are located at the node `user`.
  std::optional<llvm::SmallVector<NodeValue>> buildGraph(unsigned number,
                                                         llvm::ArrayRef<NodeValue> inputs,
                                                         const Scope *outer, llvm::StringRef user);

private:
  void addInitializers(const Graph &graph, Scope &scope);
  void buildNode(const Node &node, Scope &scope);
  /// Returns true if all inputs are there. Reports those that no node computes.
  bool hasInputs(const Node &node, const Scope &scope);
  std::optional<llvm::SmallVector<NodeValue>> buildNodes(const Graph &graph, Scope &scope,
                                                         llvm::StringRef user);

  EntryContext &entry;
};

} // namespace tfc::onnx
