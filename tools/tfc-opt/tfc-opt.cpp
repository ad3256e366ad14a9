#include "compiler/autodiff/Passes.h"
#include "compiler/controlflow/Passes.h"
#include "compiler/fusion/Passes.h"
#include "compiler/cpu/Passes.h"
#include "compiler/lowering/Passes.h"
#include "compiler/memory/Passes.h"
#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// Runs single passes on IR in text form, for tests and for looking inside.
int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, DLTIDialect,
                  func::FuncDialect, index::IndexDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, tensor::TensorDialect, ub::UBDialect,
                  vector::VectorDialect, tfc::dfg::DfgDialect,
                  tfc::linalg_ext::LinalgExtDialect>();
  func::registerAllExtensions(registry);

  registerTransformsPasses();
  tfc::registerAutodiffPasses();
  tfc::registerControlFlowPasses();
  tfc::registerFusionPasses();
  tfc::registerLoweringPasses();
  tfc::registerMemoryPasses();
  tfc::registerSimplifyPasses();
  tfc::cpu::registerCpuPasses();
  PassPipelineRegistration<>("tfc-cpu-lower", "Lower everything to the LLVM dialect",
                             tfc::cpu::buildCpuLoweringPipeline);
  return asMainReturnCode(MlirOptMain(argc, argv, "Runs passes of tfc\n", registry));
}
