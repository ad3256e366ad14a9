// Applies the expansions of functions of floats one set of patterns after the other, to each
// function on its own: a list of work for the whole module would outgrow the caches of the
// processor.

#include "compiler/kernels/math/Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tfc::kernels;

MathExpansion::MathExpansion(Library given) : library(std::move(given)) {
  MLIRContext *context = library.symbols.getOp()->getContext();
  auto freeze = [&](auto populate) {
    RewritePatternSet patterns(context);
    populate(patterns);
    return FrozenRewritePatternSet(std::move(patterns));
  };
  // Polynomials come first, so that the library computes only what they leave.
  for (auto populate : {populateFunctionPatterns, populateWidePatterns,
                        populateTrigonometryPatterns, populatePowerPatterns})
    functions.push_back(freeze(populate));
  functions.push_back(
      freeze([&](RewritePatternSet &patterns) { populateLibraryPatterns(patterns, library); }));
  // Conversions between floats are kept: `legalize` in compiler/emission handles them.
  conversions = freeze([](RewritePatternSet &patterns) {
    arith::populateArithExpandOpsPatterns(patterns);
    populateConversionPatterns(patterns);
    populateExtremePatterns(patterns);
  });
}

LogicalResult MathExpansion::applyTo(Operation *function, bool fuses) const {
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
    // Sums of products of constants are folded after `fuseMultiplyAdds`.
    ofFunctions.enableFolding(false);
    if (!ops.empty() && failed(applyOpPatternsGreedily(ops, patterns, ofFunctions)))
      return failure();
  }
  if (fuses)
    fuseMultiplyAdds(function);
  return applyPatternsGreedily(function, conversions, config);
}
