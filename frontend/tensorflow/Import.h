// TensorFlow graphs (GraphDef) to dfg modules.
#pragma once

#include "frontend/ImportOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tfc::tensorflow {

/// A tensor that the caller gives.
struct FeedSpec {
  std::string tensor; // "x:0"
  /// The sizes, as text, where the graph does not say them.
  std::optional<std::vector<std::string>> sizes;
  /// The elements, integers in row-major order, of one that decides shapes: they are part of the
  /// graph then, and calls give the same.
  std::optional<std::vector<int64_t>> numbers;
};

/// One function to make of a graph.
struct EntrySpec {
  std::string name;
  std::vector<FeedSpec> feeds;
  std::vector<std::string> fetches; // tensors
  std::vector<std::string> targets; // nodes to run for their effects
};

/// Reads "name: feeds -> fetches ; targets"; nothing, and `error` set, if it is malformed.
std::optional<EntrySpec> parseEntrySpec(llvm::StringRef text, std::string &error);

/// The name of a feed or fetch for the callers: of the first output just the node's.
std::string portName(llvm::StringRef tensor);

/// Builds a module with these entries of a binary GraphDef. Errors go to the context's
/// diagnostics; null after one.
mlir::OwningOpRef<mlir::ModuleOp> importGraphDef(mlir::MLIRContext &context, llvm::StringRef path,
                                                 llvm::StringRef bytes,
                                                 llvm::ArrayRef<EntrySpec> entries,
                                                 const ImportOptions &options = {});

} // namespace tfc::tensorflow
