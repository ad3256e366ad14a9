// Patterns that turn functions of floats into calls of libm.
#pragma once

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace tfc::cpu {

/// Adds patterns that turn the remaining functions into calls of libm, lane by lane. They declare
/// the functions that they call in the module of `symbols`.
void populateLibraryPatterns(mlir::RewritePatternSet &patterns, mlir::SymbolTable &symbols);

} // namespace tfc::cpu
