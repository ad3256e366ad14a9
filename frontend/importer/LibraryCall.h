// Nodes that are calls of the shipped graph source.
#pragma once

#include "frontend/importer/NodeBuilder.h"
#include "frontend/text/elaborate/LibraryCalls.h"

namespace tfc::importer {

/// Calls functions of the graph source for a node. A parameter is the attribute of its name; the
/// others are tensors.
class LibraryCall {
public:
  LibraryCall(NodeBuilder &node, text::LibraryCalls &library) : node(node), library(library) {}

  /// Builds the node as a call on its inputs, in their order. An absent input has the parameter's
  /// default, and a `group` with the default `[]` takes all inputs that are left.
  Outcome build(llvm::StringRef function);
  /// The results of a call on these tensors; nothing after errors.
  std::optional<llvm::SmallVector<NodeValue>> on(llvm::StringRef function,
                                                 llvm::ArrayRef<NodeValue> tensors);
  /// The first of them.
  NodeValue compute(llvm::StringRef function, llvm::ArrayRef<NodeValue> tensors);

private:
  using Argument = text::LibraryCalls::Argument;
  using Parameter = text::LibraryCalls::Parameter;

  std::optional<llvm::SmallVector<NodeValue>> call(llvm::StringRef function,
                                                   llvm::ArrayRef<Argument> arguments);
  /// The argument for a parameter that is an attribute, or input `input`, which then counts up.
  std::optional<Argument> argumentFor(const Parameter &parameter, unsigned &input);
  /// Returns true for a parameter that is not given; moves on past an absent input.
  bool takesDefault(const Parameter &parameter, unsigned &input);

  NodeBuilder &node;
  text::LibraryCalls &library;
};

} // namespace tfc::importer
