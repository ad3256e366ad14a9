// Explains why two sizes cannot be proven equal, and what would help.
#include "frontend/text/elaborate/SizeExplainer.h"

#include "frontend/text/elaborate/Advisor.h"
#include "frontend/text/elaborate/SizeScope.h"
#include <map>
#include <numeric>

using namespace llvm;

namespace tfc::text {

/// The activation of the entry, in which sizes have their names.
static const Activation *entryOf(const Activation *activation) {
  while (activation && activation->caller)
    activation = activation->caller;
  return activation && activation->fn && activation->fn->isEntry ? activation : nullptr;
}

static std::string joinNames(ArrayRef<std::string> names) {
  return fmt::format("{} and {}", join(names.drop_back(), ", "), names.back());
}

/// Notes "n and m are independent sizes of entry 'pair'" where the entry binds the first of them.
void SizeExplainer::noteIndependent(Diagnostic &diagnostic, ArrayRef<std::string> names) {
  const Activation *entry = entryOf(context.activation);
  if (!entry || names.size() < 2)
    return;
  auto local = entry->locals.find(names.front());
  if (local == entry->locals.end())
    return;
  diagnostic.note(local->second.at, "{} are independent sizes of entry '{}'", joinNames(names),
                  entry->fn->name.text);
}

/// `difference == 0` as a fact about one name, "n == 2 * m"; empty if no name occurs alone.
static std::string asFact(const dfg::DimExpr &difference, ArrayRef<std::string> names) {
  int64_t divisor = 0;
  for (const auto &[monomial, factor] : difference.getTerms())
    divisor = std::gcd(divisor, factor);
  for (const std::string &name : names) {
    for (int64_t sign : {1, -1}) {
      dfg::DimExpr rest = dfg::DimExpr::symbol(name) * divisor - difference * sign;
      SmallVector<std::string> others;
      rest.collectSymbols(others);
      if (is_contained(others, name))
        continue;
      return fmt::format("{} == {}", name, dfg::DimExpr::floorDiv(rest, divisor).str());
    }
  }
  return {};
}

/// Adds, for each name that is divided by numbers, their least common multiple.
static void collectDivisors(const dfg::DimExpr &size, std::map<std::string, int64_t> &divisors) {
  for (const auto &[monomial, factor] : size.getTerms())
    for (const dfg::DimExpr::Atom &atom : monomial) {
      if (atom.kind == dfg::DimExpr::AtomKind::Symbol)
        continue;
      std::optional<int64_t> by = atom.rhs->constant();
      std::optional<StringRef> name = atom.lhs->asSymbol();
      if (name && by && *by > 1 && *by < 1024) {
        int64_t &known = divisors.try_emplace(name->str(), 1).first->second;
        known = std::lcm(known, *by) < 4096 ? std::lcm(known, *by) : known;
      }
      collectDivisors(*atom.lhs, divisors);
      collectDivisors(*atom.rhs, divisors);
    }
}

/// Facts about remainders from which `difference == 0` follows, "n % 4 == 0"; empty if there are
/// none.
static std::string asRemainders(const dfg::DimExpr &difference) {
  dfg::DimExpr plain = difference.plain();
  std::map<std::string, int64_t> divisors;
  collectDivisors(plain, divisors);
  std::optional<dfg::DimExpr> rest = plain.substitute([&](StringRef name) {
    auto divisor = divisors.find(name.str());
    return std::optional(divisor == divisors.end()
                             ? dfg::DimExpr::symbol(name)
                             : dfg::DimExpr::multiple(name, divisor->second, 0));
  });
  std::string facts;
  for (const auto &[name, divisor] : divisors)
    facts += fmt::format("{}{} % {} == 0", facts.empty() ? "" : ", ", name, divisor);
  return rest && rest->isConstant(0) ? facts : std::string();
}

/// A size in the names of the function that contains the error.
std::string SizeExplainer::sizeInActivation(const dfg::DimExpr &size) {
  if (size.constant())
    return size.str();
  for (const std::string &name : context.activation->dims)
    if (valueOfDim(*context.activation, name).asDim() == size)
      return name;
  return size.str();
}

/// The type of an operand after an axis of size `from` has been checked to be `to`; empty if none
/// is.
std::string SizeExplainer::checkedType(const Argument &operand, const dfg::DimExpr &from,
                                       const dfg::DimExpr &to) {
  const mlir::Value *tensor = operand.value.get<mlir::Value>();
  if (!tensor || !isa<mlir::RankedTensorType>(tensor->getType()))
    return {};
  std::string sizes;
  bool isFound = false;
  for (const dfg::DimExpr &size : dfg::shapeOf(tensor->getType())) {
    bool isWrong = !isFound && size == from;
    isFound |= isWrong;
    sizes += (sizes.empty() ? "" : ", ") + sizeInActivation(isWrong ? to : size);
  }
  if (!isFound)
    return {};
  return fmt::format("{}[{}]", dfg::toText(dfg::elementTypeOf(tensor->getType())), sizes);
}

/// An explanation of two data-dependent sizes with the same bound.
static constexpr StringLiteral kSelections =
    "selections by different masks have sizes of their own";

void SizeExplainer::explainUnequal(Diagnostic &diagnostic,
                                   const std::pair<dfg::DimExpr, dfg::DimExpr> &sizes,
                                   ArrayRef<Argument> operands) {
  dfg::DimExpr difference = sizes.first - sizes.second;
  if (difference.constant())
    return;
  SmallVector<std::string> names;
  sizes.first.collectSymbols(names);
  sizes.second.collectSymbols(names);
  bool isRunTime = sizeScope.isRunTimeSize(difference);
  if (isRunTime)
    advisor.noteRunTimeSizes(diagnostic, names);
  else
    noteIndependent(diagnostic, names);
  std::string type, subject = "value";
  const Local *param = nullptr;
  for (const Argument &operand : operands) {
    bool isFirst = &operand == operands.begin();
    std::string checked = isFirst ? checkedType(operand, sizes.first, sizes.second)
                                  : checkedType(operand, sizes.second, sizes.first);
    const auto *name = dyn_cast_or_null<ast::NameExpr>(operand.expr);
    if (checked.empty() || (!type.empty() && (!name || subject != "value")))
      continue;
    type = checked;
    subject = name ? name->name.str() : "value";
    const Local *local = name ? context.activation->find(name->name) : nullptr;
    bool isParam = local && context.activation->fn &&
                   any_of(context.activation->fn->params,
                          [&](const ast::Param &p) { return p.name.text == name->name; });
    param = isParam ? local : nullptr;
  }
  std::string fact = isRunTime ? std::string() : asFact(difference, names);
  bool isRemainder = !isRunTime && fact.empty();
  if (isRemainder)
    fact = asRemainders(difference);
  const RunTimeSize *first = sizeScope.findRunTimeSize(sizes.first);
  const RunTimeSize *second = sizeScope.findRunTimeSize(sizes.second);
  std::string help = first && second && first->bound == second->bound ? kSelections.str() : "";
  const Activation *entry = entryOf(context.activation);
  if (entry == context.activation && param && (!isRemainder || fact.empty()))
    help = fmt::format("if all callers pass such sizes, say so: {}: {}", subject, type);
  else if (entry && !fact.empty())
    help =
        fmt::format("if all calls have such sizes, say so: where {}{}", fact,
                    entry == context.activation ? std::string()
                                                : " in entry '" + entry->fn->name.text.str() + "'");
  if (!type.empty())
    help += fmt::format("{}to check it in each call: ensure({}, {})", help.empty() ? "" : "; ",
                        subject, type);
  if (!help.empty())
    diagnostic.help(help);
}

} // namespace tfc::text
