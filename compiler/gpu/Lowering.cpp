// The passes that lower functions of a GPU to the LLVM dialect and to an image, in order.

#include "compiler/kernels/emit/Lowering.h"
#include "compiler/gpu/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

void tfc::gpu::buildGpuLoweringPipeline(OpPassManager &pm, unsigned optLevel,
                                        llvm::ArrayRef<int64_t> capabilities) {
  OpPassManager &device = pm.nest<ModuleOp>();
  // Arithmetic on bf16, and functions of 16-bit floats, are those of f32, rounded.
  arith::ArithEmulateUnsupportedFloatsOptions bf16;
  bf16.sourceTypeStrs = {"bf16"};
  bf16.targetTypeStr = "f32";
  device.nestAny().addPass(arith::createArithEmulateUnsupportedFloats(bf16));
  device.nestAny().addPass(math::createMathExtendToSupportedTypes());
  kernels::buildLoweringPipeline(device, createGpuExpandMathPass());
  pm.addPass(createGpuEmitImagePass({optLevel, llvm::to_vector(capabilities)}));
}
