// The passes that lower loops over vectors to the LLVM dialect.

#include "compiler/kernels/emit/Lowering.h"
#include "compiler/cpu/Passes.h"

void tfc::cpu::buildCpuLoweringPipeline(mlir::OpPassManager &pm) {
  kernels::buildLoweringPipeline(pm, createCpuExpandMathPass());
}
