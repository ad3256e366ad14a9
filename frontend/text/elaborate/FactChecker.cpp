// Checks the facts that a `where` states; what depends on run-time sizes is left to each call.
#include "frontend/text/elaborate/FactChecker.h"

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

/// What a value known at compile time is, in a message; empty for others.
static std::string staticText(const Entity &value) {
  if (const auto *text = value.get<std::string>())
    return "\"" + *text + "\"";
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
    std::string said = (name.name + " = " + text).str();
    if (!text.empty() && text != name.name && !is_contained(texts, said))
      texts.push_back(said);
  });
  return join(texts, ", ");
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
        reporter
            .error(context.frame->callSite.isValid() ? context.frame->callSite : fact->range,
                   "false-fact",
                   what + " needs " + context.sources.oneLine(fact->range) +
                       (got.empty() ? "" : ", but got ") + got)
            .note(fact->range, "stated here");
        ok = false;
      }
    }
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// What a `where` says about sizes becomes a bound or a check of each call; else its value.
std::optional<Entity> FactChecker::factValue(const ast::Expr *fact) {
  const auto *binary = dyn_cast<ast::BinaryExpr>(fact);
  if (binary && binary->op == ast::BinaryOp::And) {
    std::optional<Entity> lhs = factValue(binary->lhs), rhs = factValue(binary->rhs);
    if (!lhs || !rhs || lhs->isPoison() || rhs->isPoison())
      return std::nullopt;
    return Entity(lhs->as<bool>() && rhs->as<bool>());
  }
  bool isComparison = binary && binary->op >= ast::BinaryOp::Eq && binary->op <= ast::BinaryOp::Ge;
  if (!isComparison) {
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
  recordFact(binary->op, *lhs, *rhs, fact->range);
  return Entity(true);
}

void FactChecker::recordFact(ast::BinaryOp op, dfg::DimExpr lhs, dfg::DimExpr rhs, SourceRange at) {
  if (!context.entry.header)
    return;
  if (sizeScope.isRunTimeSize(lhs - rhs))
    return checkFact(op, lhs, rhs, at);
  std::string text = lhs.str() + " " + ast::spelling(op).str() + " " + rhs.str();
  if (op == ast::BinaryOp::Gt || op == ast::BinaryOp::Ge) {
    std::swap(lhs, rhs);
    op = op == ast::BinaryOp::Gt ? ast::BinaryOp::Lt : ast::BinaryOp::Le;
  }
  bool isOrder = op == ast::BinaryOp::Lt || op == ast::BinaryOp::Le;
  // 0 <= scale * name + offset bounds the name.
  std::optional<dfg::DimExpr::Linear> room =
      isOrder ? (rhs - lhs - dfg::DimExpr(op == ast::BinaryOp::Lt)).asLinear() : std::nullopt;
  if (room && room->scale < 0) {
    int64_t most = divideFloorSigned(room->offset, -room->scale);
    addBound(context.entry.header->bounds, room->name, most, /*isUpper=*/true);
    return;
  }
  if (room)
    addBound(context.entry.lowerBounds, room->name, divideCeilSigned(-room->offset, room->scale),
             /*isUpper=*/false);
  if (!is_contained(context.entry.header->where, text))
    context.entry.header->where.push_back(text);
}

/// `n == 2 * m` makes n another name for 2 * m.
void FactChecker::substituteEquality(const ast::Expr *fact) {
  const auto *binary = dyn_cast<ast::BinaryExpr>(fact);
  if (!binary)
    return;
  if (binary->op == ast::BinaryOp::And) {
    substituteEquality(binary->lhs);
    substituteEquality(binary->rhs);
    return;
  }
  if (binary->op != ast::BinaryOp::Eq)
    return;
  for (auto [nameExpr, valueExpr] :
       {std::pair(binary->lhs, binary->rhs), std::pair(binary->rhs, binary->lhs)}) {
    const auto *name = dyn_cast<ast::NameExpr>(nameExpr);
    Local *local = name ? context.frame->find(name->name) : nullptr;
    if (!local || !local->value.asDim() ||
        !(*local->value.asDim() == dfg::DimExpr::symbol(name->name)))
      continue;
    Entity value = evaluator.eval(valueExpr);
    std::optional<dfg::DimExpr> size = value.asDim();
    if (!size)
      return;
    SmallVector<std::string> names;
    size->collectSymbols(names);
    if (is_contained(names, name->name.str()))
      continue;
    context.frame->locals[name->name].value = Entity::dim(*size);
    return;
  }
}

//===----------------------------------------------------------------------===//
// What is known of them
//===----------------------------------------------------------------------===//

/// Checks a fact about sizes that the data decide where it is stated.
void FactChecker::checkFact(ast::BinaryOp op, const dfg::DimExpr &lhs, const dfg::DimExpr &rhs,
                            SourceRange at) {
  mlir::Location location = reporter.locate(at);
  mlir::Type i64 = mlir::IntegerType::get(context.mlir, 64);
  StringRef name = StringSwitch<StringRef>(ast::spelling(op))
                       .Case("==", "equal")
                       .Case("!=", "not_equal")
                       .Case("<", "less")
                       .Case("<=", "less_equal")
                       .Case(">", "greater")
                       .Default("greater_equal");
  mlir::Value values[] = {context.builder.size(lhs, i64, location),
                          context.builder.size(rhs, i64, location)};
  if (mlir::Value holds = tensorEmitter.emit(name, {}, values, {}, at))
    context.builder.check(
        holds, lhs.str() + " " + ast::spelling(op).str() + " " + rhs.str() + " does not hold",
        dfg::Failure::InvalidArgument, location);
}

} // namespace tfc::text
