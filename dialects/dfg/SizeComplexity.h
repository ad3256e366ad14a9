//===- SizeComplexity.h - How large the formulas of sizes may be ---------------===//
//
// Sizes are polynomials in a canonical form, and computing with them takes time that grows with
// their terms; products of many, such as the number of elements of a tensor, have as many terms as
// the product of the numbers of theirs. What readers accept is therefore limited.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tfc::dfg {

/// Axes of a tensor.
inline constexpr int64_t kMaxRank = 64;

/// Terms that a size, or the product of the sizes of a tensor, may have.
inline constexpr uint64_t kMaxSizeTerms = 256;

/// Characters of the operands of `//`, `%`, `min` and `max` in a size, and how deep they nest.
inline constexpr uint64_t kMaxSizeText = 1 << 14, kMaxSizeNesting = 100;

/// About how many terms and names are in a size, those in its atoms included.
uint64_t costOf(const DimExpr &size);

bool isTooComplex(const DimExpr &size);

/// Whether the product may have too many terms; `operator*` gives an overflow then.
bool isProductTooComplex(const DimExpr &lhs, const DimExpr &rhs);

/// The sum of many sizes, in a time that is nearly linear in their terms.
DimExpr sumOf(std::vector<DimExpr> sizes);

/// Whether one of the sizes is, each in its text, or the number of elements of a tensor of these
/// sizes.
bool isTooComplex(llvm::ArrayRef<mlir::StringAttr> sizes);

} // namespace tfc::dfg
