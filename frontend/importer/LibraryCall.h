// Nodes that are calls of the shipped graph source.
#pragma once

#include "frontend/importer/NodeBuilder.h"
#include "frontend/text/elaborate/LibraryCalls.h"

namespace tfc::importer {

/// Calls functions in graph source for a node. A parameter is bound to the attribute of its name,
/// otherwise to a tensor.
class LibraryCall {
public:
  using Argument = text::LibraryCalls::Argument;

  LibraryCall(NodeBuilder &node, text::LibraryCalls &library) : node(node), library(library) {}

  /// Builds the node as a call with its inputs, in order. An absent input is replaced by the
  /// parameter's default, and a `group` with the default `[]` takes all remaining inputs.
  Outcome build(llvm::StringRef function);
  /// Returns the results of a call with these tensors, in order, and arguments by name, or
  /// std::nullopt after errors.
  std::optional<llvm::SmallVector<NodeValue>> on(llvm::StringRef function,
                                                 llvm::ArrayRef<NodeValue> tensors,
                                                 llvm::ArrayRef<Argument> named = {});
  /// Returns the first result.
  NodeValue compute(llvm::StringRef function, llvm::ArrayRef<NodeValue> tensors,
                    llvm::ArrayRef<Argument> named = {});

private:
  using Parameter = text::LibraryCalls::Parameter;

  std::optional<llvm::SmallVector<NodeValue>> call(llvm::StringRef function,
                                                   llvm::ArrayRef<Argument> arguments);
  /// Returns the argument for a parameter that is an attribute or input `input`, which is then
  /// incremented.
  std::optional<Argument> argumentFor(const Parameter &parameter, unsigned &input);
  /// Returns true if the parameter is not given; advances past an absent input.
  bool takesDefault(const Parameter &parameter, unsigned &input);

  NodeBuilder &node;
  text::LibraryCalls &library;
};

} // namespace tfc::importer
