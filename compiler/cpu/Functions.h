// Patterns that expand functions of floats, by the file that implements them.
#pragma once

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace tfc::cpu {

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

/// Adds patterns that turn the remaining functions into calls of libm, lane by lane. They declare
/// the functions that they call in the module of `symbols`.
void populateLibraryPatterns(mlir::RewritePatternSet &patterns, mlir::SymbolTable &symbols);

} // namespace tfc::cpu
