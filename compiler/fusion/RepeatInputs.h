#pragma once

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseSet.h"

namespace tfc::fusion {

/// Gives reductions that are not of rows elementwise inputs of their own where reading what these
/// are made of costs no more than storing and reading the input. Such a reduction takes in only
/// what nobody else reads, and what it does not read ties no kernels together. Adds the operations
/// of these inputs to `inputs`.
void repeatReductionInputs(mlir::Block &block, llvm::DenseSet<mlir::Operation *> &inputs);

} // namespace tfc::fusion
