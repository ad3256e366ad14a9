// Weights that a training program can change.
#pragma once

#include "frontend/onnx/EntryContext.h"

namespace tfc::onnx {

/// Turns initialisers into variables with the names and values of the initialisers.
class Parameters {
public:
  explicit Parameters(EntryContext &entry) : entry(entry) {}

  /// Adds the constants among `initializers` that operations of the current entry use. Those that
  /// only decide sizes, axes or attributes have no uses, and remain constants, as do scalars and
  /// integers.
  void declare(const Graph &graph, const Scope &initializers);
  /// Builds the entry that assigns the initial values.
  void initialize();

private:
  struct Parameter {
    std::string name;
    mlir::ElementsAttr value;
    mlir::Location location;
  };
  void declare(llvm::StringRef name, dfg::ConstantOp constant, bool isFrozen);

  EntryContext &entry;
  std::vector<Parameter> parameters;
};

} // namespace tfc::onnx
