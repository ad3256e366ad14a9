// Checks of a model before any node is built.
#pragma once

#include "frontend/onnx/EntryContext.h"

namespace tfc::onnx {

/// The names of values that the outputs of a graph depend on.
llvm::StringSet<> findNeeded(const Model &model, const Graph &graph);
/// Returns true if one of the outputs of a node is in `needed`.
bool isNeeded(const Node &node, const llvm::StringSet<> &needed);

/// Checks the needed nodes of a model and reports all errors: operations without a rule, with the
/// number of their nodes, and inputs and attributes that violate the signatures of operations.
class ModelChecker {
public:
  explicit ModelChecker(EntryContext &entry) : entry(entry) {}

  void check();

private:
  void checkPorts(const Graph &graph);
  void checkGraph(const Graph &graph);
  void checkNode(const Node &node);
  void reportUnsupported();

  EntryContext &entry;
  std::map<std::string, std::vector<const Node *>> unsupported; // by the operation
};

} // namespace tfc::onnx
