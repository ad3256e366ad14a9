//===- Remainders.cpp - Sizes with known remainders -----------------------===//
//
// Solves linear congruences in one unknown. They are few and small, so this is done one at a time.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Remainders.h"
#include <numeric>

using namespace mlir;

namespace tfc::dfg {

/// Larger numbers could overflow.
static constexpr int64_t kMaxDivisor = int64_t(1) << 30;

static int64_t floorModulo(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }

/// The inverse of `a` modulo `m`, which has no factor in common with it (Euclid's algorithm).
static int64_t inverse(int64_t a, int64_t m) {
  int64_t rest = m, next = floorModulo(a, m), factor = 0, nextFactor = 1;
  while (next != 0) {
    int64_t quotient = rest / next;
    rest = std::exchange(next, rest - quotient * next);
    factor = std::exchange(nextFactor, factor - quotient * nextFactor);
  }
  return floorModulo(factor, m);
}

/// The divisor of a size that is an `a % b`, and what is divided.
static std::optional<std::pair<DimExpr, int64_t>> asModulo(const DimExpr &size) {
  if (size.getTerms().size() != 1)
    return std::nullopt;
  const auto &[factors, coefficient] = *size.getTerms().begin();
  if (coefficient != 1 || factors.size() != 1 || factors.front().kind != DimExpr::AtomKind::Mod)
    return std::nullopt;
  std::optional<int64_t> divisor = factors.front().rhs->constant();
  return divisor ? std::optional(std::pair(*factors.front().lhs, *divisor)) : std::nullopt;
}

std::optional<Congruence> Congruence::of(const Fact &fact) {
  if (fact.comparison != Comparison::Equal)
    return std::nullopt;
  for (auto [size, other] : {std::pair(fact.lhs, fact.rhs), std::pair(fact.rhs, fact.lhs)}) {
    auto modulo = asModulo(size);
    std::optional<int64_t> value = other.constant();
    if (modulo && value)
      return Congruence{modulo->first, modulo->second, *value};
  }
  return std::nullopt;
}

bool Remainder::add(int64_t scale, int64_t by, int64_t rest) {
  if (by < 1 || by > kMaxDivisor)
    return false;
  // n is divisor * t + value.
  int64_t factor = floorModulo(floorModulo(scale, by) * floorModulo(divisor, by), by);
  int64_t left = floorModulo(rest - floorModulo(scale, by) * floorModulo(value, by), by);
  int64_t common = std::gcd(factor, by), period = by / common;
  if (left % common != 0 || divisor * period > kMaxDivisor)
    return false;
  int64_t t = floorModulo(left / common * inverse(factor / common, period), period);
  value += divisor * t;
  divisor *= period;
  return true;
}

bool Remainder::add(const DimExpr::Linear &dividend, int64_t by, int64_t rest) {
  return by >= 1 && by <= kMaxDivisor &&
         add(dividend.scale, by, floorModulo(rest - floorModulo(dividend.offset, by), by));
}

} // namespace tfc::dfg
