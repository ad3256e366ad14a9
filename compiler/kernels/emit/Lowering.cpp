// The passes that lower loops over vectors to the LLVM dialect, in order.

#include "compiler/kernels/emit/Lowering.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

// Passes run on each function on its own where they can: a list of work for the whole module would
// outgrow the caches of the processor.
void tfc::kernels::buildLoweringPipeline(OpPassManager &pm, std::unique_ptr<Pass> expandMath) {
  OpPassManager &loops = pm.nestAny();
  loops.addPass(createCanonicalizerPass());
  loops.addPass(createCSEPass());
  // Hoists before functions on floats are expanded into long polynomials: until then, each is a
  // single operation.
  loops.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(std::move(expandMath));
  OpPassManager &expanded = pm.nestAny();
  expanded.addPass(createCanonicalizerPass());
  expanded.addPass(createCSEPass());
  expanded.addPass(createLoopInvariantCodeMotionPass());
  expanded.addPass(createLowerAffinePass());
  expanded.addPass(createSCFToControlFlowPass());
  expanded.addPass(createConvertVectorToLLVMPass());
  expanded.addPass(createConvertMathToLLVMPass());
  expanded.addPass(createArithToLLVMConversionPass());
  expanded.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  OpPassManager &converted = pm.nestAny();
  converted.addPass(createUBToLLVMConversionPass());
  converted.addPass(createReconcileUnrealizedCastsPass());
}
