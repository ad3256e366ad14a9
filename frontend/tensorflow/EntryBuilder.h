// Builds an entry: its nodes one by one, each once its inputs are there.
#pragma once

#include "frontend/tensorflow/Ports.h"

namespace tfc::tensorflow {

class EntryBuilder {
public:
  explicit EntryBuilder(EntryContext &entry) : entry(entry), ports(entry) {}

  /// Adds the entry to the module; no entry after errors.
  llvm::LogicalResult build();

  /// Builds a node whose inputs are there.
  Outcome buildNode(unsigned index);
  /// Calls `visit` for each node that must be built before, as often as it is named.
  void forEachBefore(unsigned index, llvm::function_ref<void(unsigned)> visit) const;

private:
  void beginEntry();
  void buildNodes();
  bool isReady(unsigned index) const;
  void keepSizes(unsigned index);
  void reportStuck();
  /// Nodes stand in the file's order: effects that no edge orders keep it.
  void orderOps();
  void finish();

  EntryContext &entry;
  EntryPorts ports;
};

} // namespace tfc::tensorflow
