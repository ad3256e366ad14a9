//===- HostFunction.h - The function that runs an entry -------------------===//

#pragma once

#include "compiler/memory/Arena.h"
#include "compiler/memory/SizeBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace tfc::memory {

/// What all host functions of a module share: texts, weights, variables, the runtime's functions.
class HostModule {
public:
  explicit HostModule(mlir::ModuleOp module);

  mlir::ModuleOp getModule() const { return module; }
  mlir::SymbolTable &getSymbols() { return symbols; }

  /// Declares a function of the runtime on its first use.
  mlir::LLVM::LLVMFuncOp runtime(llvm::StringRef name, mlir::Type result,
                                 llvm::ArrayRef<mlir::Type> arguments);
  mlir::LLVM::LLVMFuncOp addFunction(const llvm::Twine &name, mlir::Type result,
                                     llvm::ArrayRef<mlir::Type> arguments, mlir::Location loc);
  /// The address of a text with a final 0.
  mlir::Value text(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef text);
  /// The address of a constant's bytes in the weights.
  mlir::Value weight(mlir::OpBuilder &b, mlir::Location loc, mlir::ElementsAttr value);
  unsigned variableNumber(mlir::FlatSymbolRefAttr variable) const {
    return variableNumbers.lookup(variable.getAttr());
  }
  unsigned queueNumber(mlir::FlatSymbolRefAttr queue) const {
    return queueNumbers.lookup(queue.getAttr());
  }

  int64_t getWeightBytes() const { return weightBytes; }

  /// Notes that an entry needs so many chunks.
  void requireChunks(unsigned count) { chunkCount = std::max(chunkCount, count); }

  /// Sets `tfc.weights` and `tfc.chunks`.
  void finish();

private:
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::StringAttr, unsigned> variableNumbers, queueNumbers;
  llvm::StringMap<mlir::LLVM::GlobalOp> texts;
  llvm::MapVector<mlir::ElementsAttr, int64_t> weights; // to their offsets
  int64_t weightBytes = 0;
  unsigned chunkCount = 0;
};

/// What the report says of an entry.
struct HostCounts {
  unsigned launches = 0, inPlace = 0, copies = 0, checks = 0;
};

/// Builds `tfc_entry_<number>_run`. An operation that cannot be run is an error.
llvm::LogicalResult buildRunFunction(HostModule &host, dfg::EntryOp entry, const EntryInfo &info,
                                     unsigned number, const Arena &arena, HostCounts &counts);

} // namespace tfc::memory
