// Patterns that expand functions of floats, by the file that implements them.
#pragma once

#include "mlir/IR/SymbolTable.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

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

/// Adds patterns for minima and maxima of floats.
void populateExtremePatterns(mlir::RewritePatternSet &patterns);

/// Fuses each multiplication of f32 or f64 with the only addition or subtraction that uses it, if
/// both may be contracted. LLVM does so, too, but only within a block and when it selects
/// instructions: until then constants are folded with two roundings. The bits of a result would
/// depend on the kernel around it.
void fuseMultiplyAdds(mlir::Operation *function);

/// A library of functions of floats.
struct Library {
  /// Of the module in which its functions are declared.
  mlir::SymbolTable symbols;
  /// The name of a function of `arity` floats, given that of C's function of f64.
  std::string (*nameOf)(llvm::StringRef name, mlir::Type element, unsigned arity);
  /// True if remainders are calls as well; otherwise they are left to LLVM.
  bool hasRemainder = false;
};

/// Adds patterns that turn the remaining functions into calls of the library, lane by lane.
void populateLibraryPatterns(mlir::RewritePatternSet &patterns, Library &library);

/// Expands functions of floats into polynomials, then turns the others into calls of a library.
class MathExpansion {
public:
  explicit MathExpansion(Library library);
  MathExpansion(const MathExpansion &) = delete;

  /// With `fuses`, fuses multiplications with additions, too.
  llvm::LogicalResult applyTo(mlir::Operation *function, bool fuses = false) const;

private:
  Library library;
  llvm::SmallVector<mlir::FrozenRewritePatternSet> functions;
  mlir::FrozenRewritePatternSet conversions;
};

} // namespace tfc::kernels
