//===- Remainders.cpp - Sizes with known remainders -----------------------===//
//
// Solves linear congruences in one unknown. They are few and small, so this is done one at a time.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Remainders.h"
#include "dialects/dfg/DimRemainders.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace tfc::dfg {

/// Larger numbers could overflow.
static constexpr int64_t kMaxDivisor = int64_t(1) << 30;

/// The inverse of `a` modulo `m`, which has no factor in common with it (Euclid's algorithm).
static int64_t inverse(int64_t a, int64_t m) {
  int64_t rest = m, next = llvm::mod(a, m), factor = 0, nextFactor = 1;
  while (next != 0) {
    int64_t quotient = rest / next;
    rest = std::exchange(next, rest - quotient * next);
    factor = std::exchange(nextFactor, factor - quotient * nextFactor);
  }
  return llvm::mod(factor, m);
}

/// Returns what `size == value` says, for a size such as `2 * (n % 4) + 1`.
static std::optional<Congruence> congruenceOf(const DimExpr &size, int64_t value) {
  RemainderSum sum = splitRemainders(size);
  if (sum.remainders.size() != 1 || !sum.products.empty())
    return std::nullopt;
  const RemainderTerm &only = sum.remainders.front();
  int64_t difference;
  if (!only.others.empty() || llvm::SubOverflow(value, sum.constant, difference) ||
      difference % only.coefficient != 0)
    return std::nullopt;
  return Congruence{*only.quotient.lhs, only.divisor, difference / only.coefficient};
}

std::optional<Congruence> Congruence::of(const Fact &fact) {
  if (fact.comparison != Comparison::Equal)
    return std::nullopt;
  for (auto [size, other] : {std::pair(fact.lhs, fact.rhs), std::pair(fact.rhs, fact.lhs)})
    if (std::optional<int64_t> value = other.constant())
      if (std::optional<Congruence> congruence = congruenceOf(size, *value))
        return congruence;
  return std::nullopt;
}

bool Remainder::add(int64_t scale, int64_t by, int64_t rest) {
  if (by < 1 || by > kMaxDivisor)
    return false;
  // n is divisor * t + value.
  int64_t factor = llvm::mod(llvm::mod(scale, by) * llvm::mod(divisor, by), by);
  int64_t left = llvm::mod(llvm::mod(rest, by) - llvm::mod(scale, by) * llvm::mod(value, by), by);
  int64_t common = std::gcd(factor, by), period = by / common;
  if (left % common != 0 || divisor * period > kMaxDivisor)
    return false;
  int64_t t = llvm::mod(left / common * inverse(factor / common, period), period);
  value += divisor * t;
  divisor *= period;
  return true;
}

bool Remainder::add(const DimExpr::Linear &dividend, int64_t by, int64_t rest) {
  return by >= 1 && add(dividend.scale, by, llvm::mod(rest, by) - llvm::mod(dividend.offset, by));
}

} // namespace tfc::dfg
