// Computes with values known at compile time. It creates no operations: an operand that is a
// run-time value is left to the caller.
#include "frontend/text/elaborate/StaticStage.h"

#include "dialects/dfg/SizeLimits.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Meter.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/SizeScope.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Evaluates a static int between brackets; std::nullopt after an error.
template <typename T>
std::optional<T> StaticStage::evalStatic(const ast::Expr *expr, StringRef what) {
  Entity value = evaluator.eval(expr);
  if (value.isPoison())
    return std::nullopt;
  if (const T *known = value.get<T>())
    return *known;
  reporter.error(expr->range, "not-static", "expected {} known at compile time, but got {}", what,
                 value.describe());
  return std::nullopt;
}

std::optional<int64_t> StaticStage::evalStaticInt(const ast::Expr *expr) {
  return evalStatic<int64_t>(expr, "an int");
}

std::optional<std::string> StaticStage::evalStaticString(const ast::Expr *expr) {
  return evalStatic<std::string>(expr, "a string");
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

static std::optional<bool> compare(ast::BinaryOp op, auto lhs, auto rhs) {
  switch (op) {
  case ast::BinaryOp::Eq:
    return lhs == rhs;
  case ast::BinaryOp::Ne:
    return lhs != rhs;
  case ast::BinaryOp::Lt:
    return lhs < rhs;
  case ast::BinaryOp::Le:
    return lhs <= rhs;
  case ast::BinaryOp::Gt:
    return lhs > rhs;
  case ast::BinaryOp::Ge:
    return lhs >= rhs;
  default:
    return std::nullopt;
  }
}

static std::optional<int64_t> intPower(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) && MulOverflow(result, base, result))
      return std::nullopt;
    if (exponent > 1 && MulOverflow(base, base, base))
      return std::nullopt;
  }
  return result;
}

std::optional<Entity> StaticStage::intBinary(ast::BinaryOp op, int64_t lhs, int64_t rhs,
                                             SourceRange at) {
  if (std::optional<bool> result = compare(op, lhs, rhs))
    return Entity(*result);
  bool overflows = false;
  int64_t result = 0;
  switch (op) {
  case ast::BinaryOp::Add:
    overflows = AddOverflow(lhs, rhs, result);
    break;
  case ast::BinaryOp::Sub:
    overflows = SubOverflow(lhs, rhs, result);
    break;
  case ast::BinaryOp::Mul:
    overflows = MulOverflow(lhs, rhs, result);
    break;
  case ast::BinaryOp::Div:
    return Entity(static_cast<double>(lhs) / static_cast<double>(rhs));
  case ast::BinaryOp::FloorDiv:
  case ast::BinaryOp::Mod:
    if (rhs == 0)
      return reporter.fail(at, "division-by-zero", "division by zero");
    overflows = lhs == INT64_MIN && rhs == -1;
    if (!overflows) {
      result = op == ast::BinaryOp::Mod ? lhs % rhs : lhs / rhs;
      bool isInexact = lhs % rhs != 0 && ((lhs < 0) != (rhs < 0));
      if (isInexact)
        result += op == ast::BinaryOp::Mod ? rhs : -1;
    }
    break;
  case ast::BinaryOp::Pow: {
    if (rhs < 0)
      return Entity(std::pow(static_cast<double>(lhs), static_cast<double>(rhs)));
    std::optional<int64_t> power = intPower(lhs, rhs);
    overflows = !power;
    result = power.value_or(0);
    break;
  }
  default:
    return std::nullopt;
  }
  if (overflows)
    return reporter.fail(at, "number-range", "the result does not fit 64 bits");
  return Entity(result);
}

/// The remainder with the sign of `rhs`, without the overflow of lhs - rhs * floor(lhs / rhs).
static double floorMod(double lhs, double rhs) {
  if (!std::isfinite(rhs))
    return lhs - rhs * std::floor(lhs / rhs);
  double rest = std::fmod(lhs, rhs);
  if (rest == 0)
    return 0;
  return (rest < 0) != (rhs < 0) ? rest + rhs : rest;
}

static std::optional<Entity> floatBinary(ast::BinaryOp op, double lhs, double rhs) {
  if (std::optional<bool> result = compare(op, lhs, rhs))
    return Entity(*result);
  switch (op) {
  case ast::BinaryOp::Add:
    return Entity(lhs + rhs);
  case ast::BinaryOp::Sub:
    return Entity(lhs - rhs);
  case ast::BinaryOp::Mul:
    return Entity(lhs * rhs);
  case ast::BinaryOp::Div:
    return Entity(lhs / rhs);
  case ast::BinaryOp::FloorDiv:
    return Entity(std::floor(lhs / rhs));
  case ast::BinaryOp::Mod:
    return Entity(floorMod(lhs, rhs));
  case ast::BinaryOp::Pow:
    return Entity(std::pow(lhs, rhs));
  default:
    return std::nullopt;
  }
}

/// Explains why finite numbers have no finite result; empty if the result is finite or an operand
/// is not.
static std::string whyNotFinite(ArrayRef<double> operands, double result) {
  if (std::isfinite(result) || !all_of(operands, [](double x) { return std::isfinite(x); }))
    return "";
  return std::isinf(result) ? "the result does not fit f64" : "the result is not a number";
}

static bool dividesByZero(ast::BinaryOp op, double lhs, double rhs) {
  bool divides =
      op == ast::BinaryOp::Div || op == ast::BinaryOp::FloorDiv || op == ast::BinaryOp::Mod;
  return (divides && rhs == 0) || (op == ast::BinaryOp::Pow && lhs == 0 && rhs < 0);
}

static std::optional<dfg::DimExpr> sizeBinary(ast::BinaryOp op, const dfg::DimExpr &lhs,
                                              const dfg::DimExpr &rhs) {
  switch (op) {
  case ast::BinaryOp::Add:
    return lhs + rhs;
  case ast::BinaryOp::Sub:
    return lhs - rhs;
  case ast::BinaryOp::Mul:
    return lhs * rhs;
  case ast::BinaryOp::FloorDiv:
    return dfg::DimExpr::floorDiv(lhs, rhs);
  case ast::BinaryOp::Mod:
    return dfg::DimExpr::mod(lhs, rhs);
  default:
    return std::nullopt;
  }
}

static bool isComparison(ast::BinaryOp op) {
  return op >= ast::BinaryOp::Eq && op <= ast::BinaryOp::Ge;
}

/// Returns true for a list of numbers, or of such lists.
static bool isTable(const Entity &value) {
  const Group *group = value.asGroup();
  return group && !group->elements.empty() && all_of(group->elements, [](const Entity &element) {
           return element.asDouble() || element.is<bool>() || isTable(element);
         });
}

std::optional<Entity> StaticStage::staticBinary(ast::BinaryOp op, const Entity &lhs,
                                                const Entity &rhs, SourceRange at) {
  if (lhs.is<int64_t>() && rhs.is<int64_t>())
    return intBinary(op, lhs.as<int64_t>(), rhs.as<int64_t>(), at);
  std::optional<double> x = lhs.asDouble(), y = rhs.asDouble();
  if (x && y) {
    std::optional<Entity> result = floatBinary(op, *x, *y);
    const double *number = result ? result->get<double>() : nullptr;
    if (!number || dividesByZero(op, *x, *y))
      return result;
    std::string reason = whyNotFinite({*x, *y}, *number);
    return reason.empty() ? result : std::optional(reporter.fail(at, "number-range", reason));
  }
  std::optional<dfg::DimExpr> a = lhs.asDim(), b = rhs.asDim();
  if (a && b) {
    bool divides = op == ast::BinaryOp::FloorDiv || op == ast::BinaryOp::Mod;
    if (divides && b->isConstant(0))
      return reporter.fail(at, "division-by-zero", "division by zero");
    if (op == ast::BinaryOp::Mul && !meter.limitProduct(*a, *b, at))
      return Entity();
    if (!isComparison(op)) {
      std::optional<dfg::DimExpr> result = sizeBinary(op, *a, *b);
      if (result && dfg::isOverflow(*result) && !dfg::isUncomputed(*result))
        return reporter.fail(at, "number-range", "the result does not fit 64 bits");
      return result ? std::optional(Entity::dim(*result)) : std::nullopt;
    }
    std::optional<bool> known = sizeScope.compareSizes(op, *a, *b);
    return known ? std::optional<Entity>(Entity(*known)) : std::nullopt;
  }
  if (lhs.is<std::string>() && rhs.is<std::string>()) {
    if (op == ast::BinaryOp::Add)
      return meter.limited(Entity(lhs.as<std::string>() + rhs.as<std::string>()), at);
    if (std::optional<bool> result =
            compare(op, StringRef(lhs.as<std::string>()), StringRef(rhs.as<std::string>())))
      return Entity(*result);
  }
  if (lhs.asSparse() || rhs.asSparse())
    return reporter.failSparse(at);
  bool isEquality = op == ast::BinaryOp::Eq || op == ast::BinaryOp::Ne;
  const Group *g = lhs.asGroup(), *h = rhs.asGroup();
  if (g && h && !meter.spend(g->weight + h->weight, at))
    return Entity();
  if (isEquality && !lhs.isTensor() && !rhs.isTensor())
    if (std::optional<bool> equal = staticEquals(lhs, rhs))
      return Entity(*equal == (op == ast::BinaryOp::Eq));
  if (g && h && op == ast::BinaryOp::Add) {
    std::vector<Entity> elements = g->elements;
    elements.insert(elements.end(), h->elements.begin(), h->elements.end());
    return Entity::group(std::move(elements));
  }
  // A table of numbers combined with a tensor is a constant of the tensor's type.
  if ((lhs.isTensor() && isTable(rhs)) || (isTable(lhs) && rhs.isTensor()))
    return std::nullopt;
  if ((lhs.isTensor() || lhs.isNumber() || lhs.is<bool>()) &&
      (rhs.isTensor() || rhs.isNumber() || rhs.is<bool>()))
    return std::nullopt;
  const Entity &culprit = lhs.isTensor() || lhs.isNumber() ? rhs : lhs;
  return reporter.fail(at, "operand-kind", "'{}' does not apply to {}", ast::spelling(op),
                       culprit.describe());
}

std::optional<bool> StaticStage::evalCondition(const ast::Expr *expr, StringRef what) {
  Entity value = evaluator.eval(expr);
  if (value.isPoison())
    return std::nullopt;
  if (const bool *known = value.get<bool>())
    return *known;
  const auto *name = dyn_cast<ast::NameExpr>(expr);
  std::string subject = name ? fmt::format("'{}' is known only at run time", name->name)
                             : "this is known only at run time";
  if (!value.isTensor())
    subject = "got " + value.describe();
  Diagnostic &diagnostic = reporter.error(
      expr->range, "not-static", "'{}' needs a value known at compile time, but {}", what, subject);
  const Local *local = name ? context.activation->find(name->name) : nullptr;
  if (local && local->type)
    diagnostic.note(local->at,
                    "declared here; 'static {}: bool' compiles a version per value, plain 'if' "
                    "branches at run time",
                    name->name);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

std::optional<Entity> StaticStage::applyMath(double (*function)(double), const Entity &x,
                                             SourceRange at) {
  std::optional<double> number = x.asDouble();
  if (!number)
    return std::nullopt;
  double result = function(*number);
  std::string reason = whyNotFinite({*number}, result);
  return reason.empty() ? Entity(result) : reporter.fail(at, "number-range", reason);
}

Entity StaticStage::product(ArrayRef<Entity> numbers, SourceRange at) {
  Entity product = Entity(int64_t(1));
  for (const Entity &number : numbers)
    product = staticBinary(ast::BinaryOp::Mul, product, number, at).value_or(Entity());
  return product;
}

} // namespace tfc::text
