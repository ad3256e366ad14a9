// The values of a graph whose nodes name their inputs and outputs.
#pragma once

#include "frontend/importer/NodeValue.h"
#include "llvm/ADT/StringMap.h"

namespace tfc::importer {

/// The values of a graph by name. Nodes of a graph in an attribute also see the values around it.
class Scope {
public:
  explicit Scope(const Scope *outer = nullptr) : outer(outer) {}

  /// Returns the value of that name in the innermost graph that has one, or null.
  NodeValue find(llvm::StringRef name) const {
    auto found = values.find(name);
    if (found != values.end())
      return found->second;
    return outer ? outer->find(name) : NodeValue();
  }
  /// Adds a value. Returns false if the graph has one of that name.
  bool add(llvm::StringRef name, const NodeValue &value) {
    return values.try_emplace(name, value.asInput(std::nullopt)).second;
  }
  /// Keeps the value that has been built for known sizes, for the later nodes of this graph. Nodes
  /// around it build their own, because they do not see the values of a region.
  void keepValue(llvm::StringRef name, mlir::Value value) {
    values[name] = find(name).withValue(value);
  }

private:
  const Scope *outer;
  llvm::StringMap<NodeValue> values;
};

} // namespace tfc::importer
