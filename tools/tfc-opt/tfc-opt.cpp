// The driver of tests of single passes: MlirOptMain with all passes and dialects of tfc.
#include "compiler/autodiff/Passes.h"
#include "compiler/controlflow/Passes.h"
#include "compiler/cpu/Passes.h"
#include "compiler/fusion/Passes.h"
#include "compiler/gpu/Passes.h"
#include "compiler/host/Passes.h"
#include "compiler/kernels/Passes.h"
#include "compiler/lowering/Passes.h"
#include "compiler/memory/Passes.h"
#include "compiler/partition/Passes.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/placement/Passes.h"
#include "compiler/simplify/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry = tfc::makeDialectRegistry();
  registerTransformsPasses();
  tfc::registerAutodiffPasses();
  tfc::registerControlFlowPasses();
  tfc::registerFusionPasses();
  tfc::registerHostPasses();
  tfc::registerLoweringPasses();
  tfc::registerMemoryPasses();
  tfc::registerPartitionPasses();
  tfc::registerPlacementPasses();
  tfc::registerSimplifyPasses();
  tfc::kernels::registerKernelsPasses();
  tfc::cpu::registerCpuPasses();
  tfc::gpu::registerGpuPasses();
  PassPipelineRegistration<>("tfc-cpu-lower", "Lower everything to the LLVM dialect",
                             tfc::cpu::buildCpuLoweringPipeline);
  PassPipelineRegistration<>(
      "tfc-gpu-lower", "Compile the functions of GPUs to an image",
      [](OpPassManager &passes) { tfc::gpu::buildGpuLoweringPipeline(passes, /*optLevel=*/2); });
  return asMainReturnCode(MlirOptMain(argc, argv, "Runs passes of tfc\n", registry));
}
