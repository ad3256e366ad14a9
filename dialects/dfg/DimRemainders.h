//===- DimRemainders.h - Remainders within symbolic sizes -----------------===//
//
// The canonical form of `n % 4` is `n - 4 * (n // 4)`, so that sums of both need no rules of their
// own: `n + (-n) % 4` is `4 * ((n + 3) // 4)`. Text and bounds need the remainders again.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"

namespace tfc::dfg {

/// `coefficient * others * (dividend % divisor)`, with the quotient `dividend // divisor`.
struct RemainderTerm {
  DimExpr::Monomial others;
  int64_t coefficient;
  DimExpr::Atom quotient;
  int64_t divisor;
};

/// A size as the sum of remainders by positive numbers, of products and of a number.
struct RemainderSum {
  std::vector<RemainderTerm> remainders;
  /// Factors that the size owns, and their coefficients.
  std::vector<std::pair<const DimExpr::Monomial *, int64_t>> products;
  int64_t constant = 0;
};

/// Finds the remainders in a size.
RemainderSum splitRemainders(const DimExpr &size);

} // namespace tfc::dfg
