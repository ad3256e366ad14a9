// Checks that come before any node is built.
#pragma once

#include "frontend/tensorflow/EntryContext.h"

namespace tfc::tensorflow {

/// Checks the needed nodes of an entry, and reports all that is wrong.
class GraphChecker {
public:
  explicit GraphChecker(EntryContext &entry) : entry(entry) {}

  /// Operations without a rule, inputs and attributes that operations do not have, and outputs that
  /// are read but not there.
  void check(llvm::ArrayRef<Edge> fetches);

private:
  void checkNode(unsigned index);
  void checkEdges(unsigned index);
  bool isOutput(Edge edge) const;

  EntryContext &entry;
};

} // namespace tfc::tensorflow
