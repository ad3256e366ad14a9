// Expands functions on floats and lowers conversions that LLVM does not have.

#include "compiler/cpu/LibraryCalls.h"
#include "compiler/cpu/Passes.h"
#include "compiler/kernels/math/Functions.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tfc::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATHPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc::cpu

using namespace mlir;

namespace {

/// Patterns that are applied one set after the other, to each function on its own: a list of work
/// for the whole module would outgrow the caches of the processor.
class Expansion {
public:
  explicit Expansion(ModuleOp module);

  LogicalResult applyTo(Operation *function) const;

private:
  SymbolTable symbols;
  SmallVector<FrozenRewritePatternSet> functions;
  FrozenRewritePatternSet conversions;
};

/// Runs after code generation, when vectors have the target's lanes, and before the conversion to
/// LLVM.
struct CpuExpandMathPass : tfc::cpu::impl::CpuExpandMathPassBase<CpuExpandMathPass> {
  void runOnOperation() override {
    Expansion expansion(getOperation());
    for (auto function : llvm::to_vector(getOperation().getOps<FunctionOpInterface>()))
      if (failed(expansion.applyTo(function)))
        return signalPassFailure();
  }
};

} // namespace

Expansion::Expansion(ModuleOp module) : symbols(module) {
  auto freeze = [&](auto populate) {
    RewritePatternSet patterns(module.getContext());
    populate(patterns);
    return FrozenRewritePatternSet(std::move(patterns));
  };
  // Polynomials come first, so that the library computes only what they leave.
  for (auto populate :
       {tfc::kernels::populateFunctionPatterns, tfc::kernels::populateWidePatterns,
        tfc::kernels::populateTrigonometryPatterns, tfc::kernels::populatePowerPatterns})
    functions.push_back(freeze(populate));
  functions.push_back(freeze(
      [&](RewritePatternSet &patterns) { tfc::cpu::populateLibraryPatterns(patterns, symbols); }));
  // Conversions between floats are kept: `legalize` in compiler/emission handles them.
  conversions = freeze([](RewritePatternSet &patterns) {
    arith::populateArithExpandOpsPatterns(patterns);
    tfc::kernels::populateConversionPatterns(patterns);
  });
}

LogicalResult Expansion::applyTo(Operation *function) const {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  for (const FrozenRewritePatternSet &patterns : functions) {
    SmallVector<Operation *> ops;
    function->walk([&](Operation *op) {
      if (isa<math::MathDialect>(op->getDialect()) || isa<arith::RemFOp>(op))
        ops.push_back(op);
    });
    GreedyRewriteConfig ofFunctions = config;
    ofFunctions.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    if (!ops.empty() && failed(applyOpPatternsGreedily(ops, patterns, ofFunctions)))
      return failure();
  }
  return applyPatternsGreedily(function, conversions, config);
}
