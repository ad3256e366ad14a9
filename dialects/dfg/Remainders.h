//===- Remainders.h - Sizes with known remainders -------------------------===//
//
// Facts such as `n % 4 == 0` make a name stand for `4 * (n / 4)`, so that proofs need not know
// them. Here such facts are read, and combined if several are about one name.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Facts.h"

namespace tfc::dfg {

/// `dividend % divisor == value`.
struct Congruence {
  DimExpr dividend;
  int64_t divisor, value;

  /// Returns what a fact says, if it is one about a remainder by a number.
  static std::optional<Congruence> of(const Fact &fact);
};

/// A known remainder of a size n: `n % divisor == value`.
struct Remainder {
  int64_t divisor = 1, value = 0;

  /// Adds `scale * n % by == rest`; returns false, and adds nothing, if it contradicts what is
  /// known, or if the divisor becomes too large.
  bool add(int64_t scale, int64_t by, int64_t rest);
  /// The same for a fact about an expression that is linear in n alone.
  bool add(const DimExpr::Linear &dividend, int64_t by, int64_t rest);
};

} // namespace tfc::dfg
