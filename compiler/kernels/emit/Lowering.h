// The passes from loops to the LLVM dialect.
#pragma once

#include "mlir/Pass/PassManager.h"

namespace tfc::kernels {

/// Lowers scf, arith, math, vector, index and func operations of a module to the LLVM dialect.
/// `expandMath` expands the functions of floats that LLVM does not have for the target.
void buildLoweringPipeline(mlir::OpPassManager &module, std::unique_ptr<mlir::Pass> expandMath);

} // namespace tfc::kernels
