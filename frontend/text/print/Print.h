// The interface of the printer: a dfg module becomes graph source.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"
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
  /// Adds a constant under the key, or under one of its own; returns the arguments of the `load`
  /// that reads it. The module owns the elements, which `write` reads.
  std::string add(mlir::DenseElementsAttr value, llvm::StringRef key = {});
  std::string add(mlir::DenseResourceElementsAttr value, llvm::StringRef key = {});
  /// The content of the file.
  void write(llvm::raw_ostream &os) const;

private:
  struct Tensor {
    std::string key;
    mlir::RankedTensorType type;
    /// Its elements, or one that all are equal to.
    llvm::ArrayRef<char> data;
  };
  std::string add(Tensor tensor);

  std::string fileName;
  std::vector<Tensor> tensors;
  llvm::StringSet<> keys;
};

/// Prints a dfg module in entry form as graph source that elaborates to the same operations. Long
/// constants are added to `longConstants`; without it they are printed in full. With
/// `hasFunctions`, each entry calls a function with its operations, which further entries may call.
/// Fails with an error at an operation that has no text.
mlir::LogicalResult printGraph(mlir::ModuleOp module, llvm::raw_ostream &os,
                               LongConstants *longConstants = nullptr, bool hasFunctions = false);

} // namespace tfc::text
