// Patterns that expand functions of floats, by the file that implements them.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tfc::kernels {

/// Adds patterns that expand functions on f32 into polynomials, accurate to a few ulp, with C's
/// results for special values.
void populateFunctionPatterns(mlir::RewritePatternSet &patterns);

/// The same for exponentials and logarithms of f64, accurate to two ulp.
void populateWidePatterns(mlir::RewritePatternSet &patterns);

/// The same for arctangents and for sine and cosine, whose large arguments are left to the library.
void populateTrigonometryPatterns(mlir::RewritePatternSet &patterns);

/// The same for powers and remainders, computed in f64; remainders of very large quotients are left
/// to the library.
void populatePowerPatterns(mlir::RewritePatternSet &patterns);

/// Adds patterns for conversions that LLVM does not have: those of integers to 16-bit floats.
void populateConversionPatterns(mlir::RewritePatternSet &patterns);

} // namespace tfc::kernels
