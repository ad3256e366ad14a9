#include "compiler/cpu/Functions.h"
#include "compiler/cpu/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tfc::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATHPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc::cpu

using namespace mlir;

namespace {

/// Runs after codegen, when vectors have the target's lanes, and before the conversion to LLVM.
struct CpuExpandMathPass : tfc::cpu::impl::CpuExpandMathPassBase<CpuExpandMathPass> {
  void runOnOperation() override {
    auto run = [&](function_ref<void(RewritePatternSet &)> populate) {
      RewritePatternSet patterns(&getContext());
      populate(patterns);
      return applyPatternsGreedily(getOperation(), std::move(patterns));
    };
    // Polynomials first, so that the library gets only what they leave.
    if (failed(run(tfc::cpu::populateFunctionPatterns)) ||
        failed(run(tfc::cpu::populateWidePatterns)) ||
        failed(run(tfc::cpu::populateTrigonometryPatterns)) ||
        failed(run(tfc::cpu::populatePowerPatterns)) ||
        failed(run(tfc::cpu::populateLibraryPatterns)))
      return signalPassFailure();
    // bf16 has no conversions in the libraries that we link with.
    if (failed(run([](RewritePatternSet &patterns) {
          arith::populateArithExpandOpsPatterns(patterns);
          arith::populateExpandBFloat16Patterns(patterns);
        })))
      signalPassFailure();
  }
};

} // namespace
