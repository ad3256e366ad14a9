// Recomputes inputs of reductions, so that they need not be stored.
#pragma once

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseSet.h"

namespace tfc::fusion {

/// Copies the elementwise inputs of reductions other than row reductions, if reading their sources
/// costs no more than storing and reading the input. Such a reduction is fused only with producers
/// without other readers, and a copied input does not couple other kernels. Adds the copied
/// operations to `inputs`.
void repeatReductionInputs(mlir::Block &block, llvm::DenseSet<mlir::Operation *> &inputs);

} // namespace tfc::fusion
