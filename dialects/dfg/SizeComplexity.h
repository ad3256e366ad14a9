//===- SizeComplexity.h - Limits on the formulas of sizes -----------------===//
//
// Sizes are polynomials in a canonical form, and computing with them takes time that grows with
// their terms; a product, such as the number of elements of a tensor, has up to as many terms as
// the product of the numbers of terms of its factors. Readers therefore accept only sizes within
// these limits.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tfc::dfg {

/// The largest rank of a tensor.
inline constexpr int64_t kMaxRank = 64;

/// The largest number of terms of a size, or of the product of all sizes of a
/// tensor.
inline constexpr uint64_t kMaxSizeTerms = 256;

/// Limits of the operands of `//`, `%`, `min` and `max` in a size: the number of characters, and
/// the depth of nesting.
inline constexpr uint64_t kMaxSizeText = 1 << 14, kMaxSizeNesting = 100;

/// The approximate number of terms and names in a size, including those in its atoms.
uint64_t costOf(const DimExpr &size);

bool isTooComplex(const DimExpr &size);

/// Returns true if the product may have too many terms; `operator*` returns an overflow then.
bool isProductTooComplex(const DimExpr &lhs, const DimExpr &rhs);

/// The sum of many sizes, in time nearly linear in their number of terms.
DimExpr sumOf(std::vector<DimExpr> sizes);

/// Returns true if one of the sizes, given as text, is too complex, or the number of elements of a
/// tensor of these sizes.
bool isTooComplex(llvm::ArrayRef<mlir::StringAttr> sizes);

} // namespace tfc::dfg
