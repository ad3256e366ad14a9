// Expands functions on floats and lowers conversions that LLVM does not have.

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

/// Converts integers to f16 and bf16 via f32, as defined by `cast`. MLIR folds the two steps into
/// one.
template <typename Op> struct ConvertByF32 : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    if (!element.isF16() && !element.isBF16())
      return failure();
    Type wide = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    Value number = Op::create(rewriter, op.getLoc(), wide, op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, number);
    return success();
  }
};

/// Runs after code generation, when vectors have the target's lanes, and before the conversion to
/// LLVM.
struct CpuExpandMathPass : tfc::cpu::impl::CpuExpandMathPassBase<CpuExpandMathPass> {
  void runOnOperation() override {
    auto run = [&](function_ref<void(RewritePatternSet &)> populate) {
      RewritePatternSet patterns(&getContext());
      populate(patterns);
      return applyPatternsGreedily(getOperation(), std::move(patterns));
    };
    // Polynomials come first, so that the library computes only what they leave.
    if (failed(run(tfc::cpu::populateFunctionPatterns)) ||
        failed(run(tfc::cpu::populateWidePatterns)) ||
        failed(run(tfc::cpu::populateTrigonometryPatterns)) ||
        failed(run(tfc::cpu::populatePowerPatterns)) ||
        failed(run(tfc::cpu::populateLibraryPatterns)))
      return signalPassFailure();
    // Conversions between floats are kept: `legalize` in compiler/emission handles them.
    if (failed(run([](RewritePatternSet &patterns) {
          arith::populateArithExpandOpsPatterns(patterns);
          patterns.add<ConvertByF32<arith::SIToFPOp>, ConvertByF32<arith::UIToFPOp>>(
              patterns.getContext());
        })))
      signalPassFailure();
  }
};

} // namespace
