// The passes that lower functions of a GPU to the LLVM dialect and to an image, in order.

#include "compiler/kernels/emit/Lowering.h"
#include "compiler/gpu/Passes.h"

using namespace mlir;

void tfc::gpu::buildGpuLoweringPipeline(OpPassManager &pm, unsigned optLevel) {
  kernels::buildLoweringPipeline(pm.nest<ModuleOp>(), createGpuExpandMathPass());
  pm.addPass(createGpuEmitImagePass({optLevel}));
}
