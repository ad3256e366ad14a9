// Checks the facts of a `where`; those about run-time sizes are checked by each call.
#include "frontend/text/elaborate/FactChecker.h"

#include "dialects/dfg/DataChecks.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/SizeScope.h"
#include "frontend/text/elaborate/StaticStage.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The text of a compile-time value for messages; empty for other values.
static std::string staticText(const Entity &value) {
  if (const auto *text = value.get<std::string>())
    return fmt::format("\"{}\"", *text);
  if (const bool *flag = value.get<bool>())
    return *flag ? "true" : "false";
  if (const double *number = value.get<double>())
    return toText(*number);
  if (const mlir::Type *type = value.get<mlir::Type>())
    return dfg::toText(*type);
  std::optional<dfg::DimExpr> size = value.asDim();
  return size ? size->str() : "";
}

std::string FactChecker::namesIn(const ast::Expr &fact) {
  std::vector<std::string> texts;
  forEachName(&fact, [&](const ast::NameExpr &name) {
    std::optional<Entity> value = evaluator.lookup(name.name, name.range);
    std::string text = value ? staticText(*value) : "";
    std::string said = fmt::format("{} = {}", name.name, text);
    if (!text.empty() && text != name.name && !is_contained(texts, said))
      texts.push_back(said);
  });
  return join(texts, ", ");
}

/// Shows the facts that a false one contradicts.
void FactChecker::noteReasons(Diagnostic &diagnostic, const ast::Expr &fact) {
  SmallVector<std::string> names;
  bool isOfEntry = context.activation->fn && context.activation->fn->isEntry;
  forEachName(&fact, [&](const ast::NameExpr &name) {
    if (isOfEntry && !is_contained(names, name.name))
      names.push_back(name.name.str());
    std::optional<Entity> value = evaluator.lookup(name.name, name.range);
    if (std::optional<dfg::DimExpr> size = value ? value->asDim() : std::nullopt)
      size->collectSymbols(names);
  });
  for (const std::string &name : names)
    for (SourceRange reason : context.entry.reasons.lookup(name))
      if (!(reason == fact.range))
        diagnostic.note(reason, "this is known of '{}'", name);
}

bool FactChecker::checkWhere(ArrayRef<ast::Expr *> facts, const std::string &what) {
  bool ok = true;
  for (const ast::Expr *fact : facts) {
    std::optional<Entity> size = factValue(fact);
    if (!size || size->isPoison()) {
      ok = false;
      continue;
    }
    if (const bool *known = size->get<bool>()) {
      if (!*known) {
        std::string got = namesIn(*fact);
        SourceRange call = context.activation->callSite;
        Diagnostic &diagnostic = reporter.error(
            call.isValid() ? call : fact->range, "false-fact", "{} needs {}{}{}", what,
            context.sources.oneLine(fact->range), got.empty() ? "" : ", but got ", got);
        if (call.isValid())
          diagnostic.note(fact->range, "stated here");
        noteReasons(diagnostic, *fact);
        ok = false;
      }
    }
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

std::optional<dfg::Comparison> comparisonOf(ast::BinaryOp op) {
  switch (op) {
  case ast::BinaryOp::Eq:
    return dfg::Comparison::Equal;
  case ast::BinaryOp::Ne:
    return dfg::Comparison::NotEqual;
  case ast::BinaryOp::Lt:
    return dfg::Comparison::Less;
  case ast::BinaryOp::Le:
    return dfg::Comparison::LessEqual;
  case ast::BinaryOp::Gt:
    return dfg::Comparison::Greater;
  case ast::BinaryOp::Ge:
    return dfg::Comparison::GreaterEqual;
  default:
    return std::nullopt;
  }
}

/// Turns a fact about sizes into a bound or a check of each call; returns the value of other facts.
std::optional<Entity> FactChecker::factValue(const ast::Expr *fact) {
  const auto *binary = dyn_cast<ast::BinaryExpr>(fact);
  if (binary && binary->op == ast::BinaryOp::And) {
    std::optional<Entity> lhs = factValue(binary->lhs), rhs = factValue(binary->rhs);
    if (!lhs || !rhs || lhs->isPoison() || rhs->isPoison())
      return std::nullopt;
    return Entity(lhs->as<bool>() && rhs->as<bool>());
  }
  std::optional<dfg::Comparison> comparison =
      binary ? comparisonOf(binary->op) : std::optional<dfg::Comparison>();
  if (!comparison) {
    std::optional<bool> value = staticStage.evalCondition(fact, "where");
    return value ? std::optional<Entity>(Entity(*value)) : std::nullopt;
  }
  Entity a = evaluator.eval(binary->lhs), b = evaluator.eval(binary->rhs);
  if (a.isPoison() || b.isPoison())
    return std::nullopt;
  std::optional<dfg::DimExpr> lhs = a.asDim(), rhs = b.asDim();
  if (!lhs || !rhs) {
    std::optional<Entity> known = staticStage.staticBinary(binary->op, a, b, binary->opRange);
    if (known && known->is<bool>())
      return known;
    if (!known || !known->isPoison())
      reporter.error(fact->range, "not-static",
                     "a fact is about sizes and other values known at compile "
                     "time");
    return std::nullopt;
  }
  if (std::optional<bool> known = sizeScope.compareSizes(binary->op, *lhs, *rhs))
    return Entity(*known);
  recordFact({*lhs, *comparison, *rhs}, fact->range);
  return Entity(true);
}

/// The bound that an order of two sizes, known when the call starts, puts on one name.
static std::optional<dfg::SizeBound> boundOf(const dfg::Fact &fact) {
  std::optional<SmallVector<dfg::DimExpr>> sizes = fact.asNonNegative();
  bool isOrder = sizes && sizes->size() == 1;
  return isOrder ? dfg::boundOfNonNegative(sizes->front()) : std::nullopt;
}

void FactChecker::recordFact(const dfg::Fact &fact, SourceRange at) {
  if (!context.entry.header)
    return;
  if (sizeScope.isRunTimeSize(fact.lhs - fact.rhs))
    return checkFact(fact, at);
  dfg::Fact stated = {fact.lhs.plain(), fact.comparison, fact.rhs.plain(),
                      dfg::siteOf(reporter.locate(at))};
  std::optional<dfg::SizeBound> bound = boundOf(fact);
  if (bound)
    context.entry.reasons[bound->name].push_back(at);
  if (bound && bound->isUpper) {
    context.entry.facts.push_back({stated, at});
    addBound(context.entry.header->bounds, bound->name, bound->limit, /*isUpper=*/true);
    return;
  }
  if (bound)
    addBound(context.entry.lowerBounds, bound->name, bound->limit, /*isUpper=*/false);
  dfg::Fact located = fact;
  located.site = stated.site;
  if (context.entry.header->addFact(located))
    context.entry.facts.push_back({stated, at});
}

//===----------------------------------------------------------------------===//
// Data-dependent sizes
//===----------------------------------------------------------------------===//

static StringRef operationOf(dfg::Comparison comparison) {
  switch (comparison) {
  case dfg::Comparison::Equal:
    return "equal";
  case dfg::Comparison::NotEqual:
    return "not_equal";
  case dfg::Comparison::Less:
    return "less";
  case dfg::Comparison::LessEqual:
    return "less_equal";
  case dfg::Comparison::Greater:
    return "greater";
  case dfg::Comparison::GreaterEqual:
    return "greater_equal";
  }
  llvm_unreachable("an unknown comparison");
}

/// Checks a fact about data-dependent sizes where it is stated.
void FactChecker::checkFact(const dfg::Fact &fact, SourceRange at) {
  mlir::Location location = reporter.locate(at);
  mlir::Type i64 = mlir::IntegerType::get(context.mlir, 64);
  mlir::Value values[] = {context.builder.size(fact.lhs, i64, location),
                          context.builder.size(fact.rhs, i64, location)};
  if (mlir::Value holds = tensorEmitter.emit(operationOf(fact.comparison), {}, values, {}, at))
    context.builder.check(holds, fact.str(), {fact.lhs, fact.rhs}, dfg::Failure::InvalidArgument,
                          location);
}

} // namespace tfc::text
