// Builds an entry node by node, each after its inputs.
#pragma once

#include "frontend/tensorflow/Ports.h"

namespace tfc::tensorflow {

class EntryBuilder {
public:
  explicit EntryBuilder(EntryContext &entry) : entry(entry), ports(entry) {}

  /// Adds the entry to the module, unless there are errors.
  llvm::LogicalResult build() { return build(/*isInitializer=*/false); }
  /// The same for the entry that assigns the initial values of all variables so far, and then runs
  /// its targets.
  llvm::LogicalResult buildInitializer() { return build(/*isInitializer=*/true); }

  /// Builds a node whose inputs have been built.
  Outcome buildNode(unsigned index);
  /// Calls `visit` for each node that must be built first, once per occurrence.
  void forEachBefore(unsigned index, llvm::function_ref<void(unsigned)> visit) const;

private:
  llvm::LogicalResult build(bool isInitializer);
  void assignInitialValues();
  void beginEntry();
  void buildNodes();
  bool isReady(unsigned index) const;
  void keepSizes(unsigned index);
  void reportStuck();
  /// Restores the file's order of nodes, so that effects that no edge orders keep it.
  void orderOps();
  void sinkSizes();
  void finish();

  EntryContext &entry;
  EntryPorts ports;
};

} // namespace tfc::tensorflow
