//===- HostModule.h - State shared by the host functions of a module ------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Rt.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"

namespace tfc::host {

/// The symbols of a module, its weights, and the numbers of its variables and queues.
class HostModule {
public:
  explicit HostModule(mlir::ModuleOp module);

  mlir::ModuleOp getModule() const { return module; }
  mlir::SymbolTable &getSymbols() { return symbols; }

  mlir::LLVM::LLVMFuncOp addFunction(const llvm::Twine &name, mlir::Type result,
                                     llvm::ArrayRef<mlir::Type> arguments, mlir::Location loc);
  /// Adds a function of an entry that runtime/Model.h describes, such as "run" or "arena".
  mlir::LLVM::LLVMFuncOp addEntryFunction(unsigned entry, llvm::StringRef name, mlir::Type result,
                                          llvm::ArrayRef<mlir::Type> arguments, mlir::Location loc);
  /// Returns the address of a constant in the weights.
  mlir::Value weight(mlir::OpBuilder &b, mlir::Location loc, mlir::ElementsAttr value);
  /// Returns the number of the copy of a constant that a device with memory of its own has.
  unsigned copiedConstant(mlir::ElementsAttr value, dfg::DeviceAttr device);
  unsigned variableNumber(mlir::FlatSymbolRefAttr variable) const {
    return variableNumbers.lookup(variable.getAttr());
  }
  unsigned queueNumber(mlir::FlatSymbolRefAttr queue) const {
    return queueNumbers.lookup(queue.getAttr());
  }
  unsigned datasetNumber(mlir::FlatSymbolRefAttr dataset) const {
    return datasetNumbers.lookup(dataset.getAttr());
  }

  /// The number of a launch among those of all kernels of the module.
  unsigned gridNumber(kernel::GridAttr grid) const { return gridNumbers.lookup(grid.getName()); }

  int64_t getWeightBytes() const { return weightBytes; }

  /// Records that an entry uses the chunk.
  void useChunk(unsigned number) { chunkCount = std::max(chunkCount, number + 1); }

  /// Sets `dfg.weights`, `dfg.chunks`, `rt.variable_devices` and `rt.copied_constants`.
  void finish();

private:
  int64_t offsetOf(mlir::ElementsAttr value);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::SmallVector<dfg::DeviceAttr> devices;
  llvm::DenseMap<mlir::StringAttr, unsigned> variableNumbers, queueNumbers, datasetNumbers,
      gridNumbers;
  llvm::SmallVector<int64_t> variableDevices;
  llvm::MapVector<mlir::ElementsAttr, int64_t> weights;     // to their offsets
  llvm::MapVector<rt::CopiedConstantAttr, unsigned> copied; // to their numbers
  int64_t weightBytes = 0;
  unsigned chunkCount = 0;
};

} // namespace tfc::host
