#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tfc::cpu {

/// Adds patterns that turn functions on f32 into polynomials, good to a few units in the last place
/// and with the special values of C.
void populateFunctionPatterns(mlir::RewritePatternSet &patterns);

/// The same for exponentials and logarithms of f64, good to two units in the last place.
void populateWidePatterns(mlir::RewritePatternSet &patterns);

/// The same for sine and cosine, whose large arguments are left to the library, and arctangents.
void populateTrigonometryPatterns(mlir::RewritePatternSet &patterns);

/// The same for powers and remainders, by way of f64; remainders of very large quotients are left
/// to the library.
void populatePowerPatterns(mlir::RewritePatternSet &patterns);

/// Adds patterns that turn the functions that are left into calls of libm, lane by lane.
void populateLibraryPatterns(mlir::RewritePatternSet &patterns);

} // namespace tfc::cpu
