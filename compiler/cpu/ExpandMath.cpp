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
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return llvm::is_contained({"exp", "log", "tanh", "erf", "log1p", "expm1", "sin", "cos"}, name.ltrim("math."));
    });
    arith::populateArithExpandOpsPatterns(patterns);
    arith::populateExpandBFloat16Patterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
