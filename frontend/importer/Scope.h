// The values of a graph whose nodes name their inputs and outputs.
#pragma once

#include "frontend/importer/NodeValue.h"
#include "llvm/ADT/StringMap.h"
#include <map>

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

  /// Keeps a result that later nodes of this graph, and of graphs in it, can share.
  void share(llvm::StringRef operation, mlir::Value operand, const NodeValue &result) {
    shared[{operation.str(), operand.getAsOpaquePointer()}] = result;
  }
  /// Returns what `share` has kept for an operation on a value, or null.
  NodeValue findShared(llvm::StringRef operation, mlir::Value operand) const {
    auto found = shared.find({operation.str(), operand.getAsOpaquePointer()});
    if (found != shared.end())
      return found->second;
    return outer ? outer->findShared(operation, operand) : NodeValue();
  }

private:
  const Scope *outer;
  std::map<std::pair<std::string, void *>, NodeValue> shared;
  llvm::StringMap<NodeValue> values;
};

} // namespace tfc::importer
