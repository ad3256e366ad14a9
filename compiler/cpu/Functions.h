#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tfc::cpu {

/// Adds patterns that turn functions on f32 into polynomials, good to a few units in the last place
/// and with the special values of C.
void populateFunctionPatterns(mlir::RewritePatternSet &patterns);

/// The same for sine and cosine; large arguments are left to the library.
void populateTrigonometryPatterns(mlir::RewritePatternSet &patterns);

/// Adds patterns that turn the functions that are left into calls of libm, lane by lane.
void populateLibraryPatterns(mlir::RewritePatternSet &patterns);

} // namespace tfc::cpu
