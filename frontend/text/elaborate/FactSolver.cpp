// Solves facts for names. Apart from FactChecker, because it runs before the types of the feeds are
// known, and what it finds needs no check: types hold it.
#include "frontend/text/elaborate/FactSolver.h"

#include "frontend/text/elaborate/Evaluator.h"
#include <numeric>

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

bool FactSolver::isKnown(const ast::Expr *expr) {
  bool isKnown = true;
  forEachName(expr, [&](const ast::NameExpr &name) {
    isKnown &= evaluator.lookup(name.name, name.range).has_value();
  });
  return isKnown;
}

/// Returns true if a dimension has not been replaced.
bool FactSolver::isFree(StringRef name) {
  Local *local =
      is_contained(context.activation->dims, name) ? context.activation->find(name) : nullptr;
  return local && local->value.asDim() == dfg::DimExpr::symbol(name);
}

std::optional<dfg::DimExpr> FactSolver::sizeOf(const ast::Expr *expr) {
  return isKnown(expr) ? evaluator.eval(expr).asDim() : std::nullopt;
}

/// Uses `value` for a dimension, in other dimensions too.
void FactSolver::replace(StringRef name, const dfg::DimExpr &value) {
  for (const std::string &dim : context.activation->dims) {
    Local *local = context.activation->find(dim);
    std::optional<dfg::DimExpr> size = local ? local->value.asDim() : std::nullopt;
    if (!size)
      continue;
    local->value =
        Entity::dim(*size->substitute([&](StringRef other) -> std::optional<dfg::DimExpr> {
          return other == name ? value : dfg::DimExpr::symbol(other);
        }));
  }
}

//===----------------------------------------------------------------------===//
// Equalities
//===----------------------------------------------------------------------===//

/// `name` in terms of other names if `difference` is 0; nothing if it is not linear in it.
static std::optional<dfg::DimExpr> solveFor(StringRef name, const dfg::DimExpr &difference) {
  for (int64_t sign : {1, -1}) {
    dfg::DimExpr rest = dfg::DimExpr::symbol(name) - difference * sign;
    SmallVector<std::string> others;
    rest.collectSymbols(others);
    if (!is_contained(others, name))
      return rest;
  }
  return std::nullopt;
}

/// `n == 2 * m` makes n another name for 2 * m; so does `n - m == m`.
void FactSolver::solveEquality(const ast::BinaryExpr &fact) {
  std::optional<dfg::DimExpr> lhs = sizeOf(fact.lhs), rhs = sizeOf(fact.rhs);
  if (!lhs || !rhs)
    return;
  dfg::DimExpr difference = *lhs - *rhs;
  SmallVector<std::string> names;
  // A name that stands alone is preferred, the one on the left first.
  for (const dfg::DimExpr *side : {&*lhs, &*rhs})
    if (std::optional<StringRef> name = side->asSymbol())
      names.push_back(name->str());
  difference.collectSymbols(names);
  erase_if(names, [&](const std::string &name) { return !isFree(name); });
  // `k - n == m` is better solved for k than for m: sums are never negative.
  for (bool mayBeNegative : {false, true})
    for (const std::string &name : names)
      if (std::optional<dfg::DimExpr> value = solveFor(name, difference);
          value && (mayBeNegative || dfg::isNonNegative(*value) == true))
        return replace(name, *value);
}

//===----------------------------------------------------------------------===//
// Remainders
//===----------------------------------------------------------------------===//

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

/// Adds `scale * n % divisor == value` to what is known of n; false if nothing is added.
static bool combine(int64_t &knownDivisor, int64_t &knownValue, int64_t scale, int64_t divisor,
                    int64_t value) {
  // n is knownDivisor * t + knownValue.
  int64_t factor =
      floorModulo(floorModulo(scale, divisor) * floorModulo(knownDivisor, divisor), divisor);
  int64_t rest =
      floorModulo(value - floorModulo(scale, divisor) * floorModulo(knownValue, divisor), divisor);
  int64_t common = std::gcd(factor, divisor), period = divisor / common;
  if (rest % common != 0 || knownDivisor * period > kMaxDivisor)
    return false;
  int64_t t = floorModulo(rest / common * inverse(factor / common, period), period);
  knownValue += knownDivisor * t;
  knownDivisor *= period;
  return true;
}

/// `quotient`, an `a % b`, equals `remainder`.
void FactSolver::addRemainder(const ast::BinaryExpr &quotient, const ast::Expr *remainder,
                              Remainders &remainders) {
  std::optional<dfg::DimExpr> dividend = sizeOf(quotient.lhs), by = sizeOf(quotient.rhs),
                              rest = sizeOf(remainder);
  std::optional<dfg::DimExpr::Linear> linear = dividend ? dividend->asLinear() : std::nullopt;
  std::optional<int64_t> divisor = by ? by->constant() : std::nullopt,
                         value = rest ? rest->constant() : std::nullopt;
  if (!linear || !divisor || !value || *divisor < 2 || *divisor > kMaxDivisor || *value < 0 ||
      *value >= *divisor || !isFree(linear->name))
    return;
  auto name = find(context.activation->dims, linear->name);
  Remainder &known = remainders[*name];
  int64_t offset = floorModulo(linear->offset, *divisor);
  combine(known.divisor, known.value, linear->scale, *divisor,
          floorModulo(*value - offset, *divisor));
  // The call checks the fact itself, which is always true once the name is replaced.
  dfg::Fact fact{dfg::DimExpr::mod(*dividend, *divisor), dfg::Comparison::Equal, *value};
  if (context.entry.header && !is_contained(context.entry.header->where, fact))
    context.entry.header->where.push_back(fact);
}

//===----------------------------------------------------------------------===//
// All facts
//===----------------------------------------------------------------------===//

/// The equalities in a fact, which may consist of several.
static void collectEqualities(const ast::Expr *fact,
                              SmallVectorImpl<const ast::BinaryExpr *> &equalities) {
  const auto *binary = dyn_cast<ast::BinaryExpr>(fact);
  if (binary && binary->op == ast::BinaryOp::And) {
    collectEqualities(binary->lhs, equalities);
    collectEqualities(binary->rhs, equalities);
  } else if (binary && binary->op == ast::BinaryOp::Eq) {
    equalities.push_back(binary);
  }
}

static const ast::BinaryExpr *asModulo(const ast::Expr *expr) {
  const auto *binary = dyn_cast<ast::BinaryExpr>(expr);
  return binary && binary->op == ast::BinaryOp::Mod ? binary : nullptr;
}

void FactSolver::solve(ArrayRef<const ast::Expr *> facts) {
  SmallVector<const ast::BinaryExpr *> equalities;
  for (const ast::Expr *fact : facts)
    collectEqualities(fact, equalities);
  for (const ast::BinaryExpr *equality : equalities)
    if (!asModulo(equality->lhs) && !asModulo(equality->rhs))
      solveEquality(*equality);
  Remainders remainders;
  for (const ast::BinaryExpr *equality : equalities) {
    if (const ast::BinaryExpr *modulo = asModulo(equality->lhs))
      addRemainder(*modulo, equality->rhs, remainders);
    else if (const ast::BinaryExpr *modulo = asModulo(equality->rhs))
      addRemainder(*modulo, equality->lhs, remainders);
  }
  for (const auto &[name, known] : remainders)
    if (known.divisor > 1)
      replace(name, dfg::DimExpr::multiple(name, known.divisor, known.value));
}

} // namespace tfc::text
