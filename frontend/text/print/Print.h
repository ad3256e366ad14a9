#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace tfc::text {

/// Collects constants that are too long for the text, for a separate safetensors file.
class LongConstants {
public:
  /// The beginning of the header of each file.
  static constexpr llvm::StringLiteral kMark = R"({"__metadata__":{"written_by":"tfc"})";

  /// `fileName` is the name of the file in the text.
  explicit LongConstants(llvm::StringRef fileName) : fileName(fileName) {}

  bool isEmpty() const { return tensors.empty(); }
  /// Adds a constant; returns the arguments of the `load` that reads it.
  std::string add(mlir::DenseElementsAttr value);
  /// The content of the file.
  void write(llvm::raw_ostream &os) const;

private:
  std::string fileName;
  std::vector<mlir::DenseElementsAttr> tensors;
};

/// Prints a dfg module in entry form as graph source that elaborates to the same operations. Long
/// constants are added to `longConstants`; without it they are printed in full. Fails with an error
/// at an operation that has no text.
mlir::LogicalResult printGraph(mlir::ModuleOp module, llvm::raw_ostream &os,
                               LongConstants *longConstants = nullptr);

} // namespace tfc::text
