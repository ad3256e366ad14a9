// Checks of a graph before any node is built.
#pragma once

#include "frontend/tensorflow/EntryContext.h"

namespace tfc::tensorflow {

/// Checks the needed nodes of an entry and reports all errors.
class GraphChecker {
public:
  explicit GraphChecker(EntryContext &entry) : entry(entry) {}

  /// Reports operations without a rule, inputs and attributes that violate the signatures of
  /// operations, and uses of outputs that do not exist.
  void check(llvm::ArrayRef<Edge> fetches);

private:
  void checkNode(unsigned index);
  void reportUnsupported(unsigned index);
  void checkEdges(unsigned index);
  bool isOutput(Edge edge) const;

  EntryContext &entry;
};

} // namespace tfc::tensorflow
