// The objects that all nodes of a model share.
#pragma once

#include "dialects/dfg/Facts.h"
#include "frontend/GraphBuilder.h"
#include "frontend/ImportOptions.h"
#include "frontend/importer/Diagnostics.h"
#include "frontend/importer/Scope.h"
#include "frontend/onnx/Model.h"
#include "frontend/text/elaborate/LibraryCalls.h"
#include "llvm/ADT/StringSet.h"

namespace tfc::onnx {

struct EntryContext {
  GraphBuilder &builder;
  const Model &model;
  /// Operations that are functions in graph source.
  text::LibraryCalls &functions;
  Diagnostics &diagnostics;
  const ImportOptions &options;

  /// Values whose nodes have failed; nodes that use them are not built.
  llvm::StringSet<> failed;
  /// Canonical texts of the sizes that tensors have, which are therefore not negative.
  llvm::StringSet<> sizes;

  /// The names of the sizes of feeds, in their order.
  std::vector<std::string> names;
  /// Facts of the entry that an earlier attempt to build it found to be needed.
  std::vector<dfg::Fact> assumed;
  /// Limits of positions by constant sizes, as in the first rows of a table. Where operands match
  /// only within them, the model needs them.
  std::vector<dfg::Fact> limits;
  /// Facts without which nodes have another meaning than the one with which they are built.
  std::vector<dfg::Fact> required;

  /// Returns the limits of an expression in any call.
  dfg::DimExpr::Interval intervalOf(const dfg::DimExpr &value) const;
  /// Returns true if all names in the size are those of feeds' sizes.
  bool isFed(const dfg::DimExpr &size);

  void addSizes(mlir::Type type) {
    if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type))
      for (const dfg::DimExpr &size : dfg::shapeOf(tensor))
        if (!size.constant() && !size.asSymbol())
          sizes.insert(size.canonical());
  }
  mlir::Location locate(llvm::StringRef name) const {
    return model.locate(builder.getContext(), name);
  }
};

/// Returns a constant of a TensorProto.DataType, by its elements if it can be a tensor of sizes.
NodeValue constantValue(EntryContext &entry, mlir::ElementsAttr value, int64_t dtype,
                        llvm::StringRef name);

} // namespace tfc::onnx
