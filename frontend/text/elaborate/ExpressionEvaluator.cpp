// Evaluates each kind of expression, itself or through the collaborator for that kind. It is the
// only one that knows all kinds.
#include "frontend/text/elaborate/ExpressionEvaluator.h"

#include "frontend/text/elaborate/Advisor.h"
#include "frontend/text/elaborate/Binder.h"
#include "frontend/text/elaborate/BranchBuilder.h"
#include "frontend/text/elaborate/CallEvaluator.h"
#include "frontend/text/elaborate/DataflowBuilder.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/IndexEvaluator.h"
#include "frontend/text/elaborate/LoopBuilder.h"
#include "frontend/text/elaborate/Meter.h"
#include "frontend/text/elaborate/NameResolver.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/StaticStage.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"

using namespace llvm;

namespace tfc::text {

Entity ExpressionEvaluator::eval(const ast::Expr *expr) {
  if (!meter.spend(1, expr->range))
    return Poison();
  return meter.limited(evalUnlimited(expr), expr->range);
}

Entity ExpressionEvaluator::evalUnlimited(const ast::Expr *expr) {
  if (!isa<ast::CallExpr>(expr))
    context.expected.reset();
  switch (expr->kind) {
  case ast::ExprKind::Error:
    return Poison();
  case ast::ExprKind::Name:
    return evalName(*cast<ast::NameExpr>(expr));
  case ast::ExprKind::DType:
    if (mlir::Type type = typeEvaluator.elementType(cast<ast::DTypeExpr>(expr)->dtype, expr->range))
      return Entity(type);
    return Poison();
  case ast::ExprKind::Int: {
    uint64_t value = cast<ast::IntExpr>(expr)->value;
    if (value > static_cast<uint64_t>(INT64_MAX))
      return reporter.fail(expr->range, "number-range", "the number does not fit 64 bits");
    return Entity(static_cast<int64_t>(value));
  }
  case ast::ExprKind::Float:
    return Entity(cast<ast::FloatExpr>(expr)->value);
  case ast::ExprKind::String:
    return evalString(*cast<ast::StringExpr>(expr));
  case ast::ExprKind::Bool:
    return Entity(cast<ast::BoolExpr>(expr)->value);
  case ast::ExprKind::Unary:
    return evalUnary(*cast<ast::UnaryExpr>(expr));
  case ast::ExprKind::Binary:
    return evalBinary(*cast<ast::BinaryExpr>(expr));
  case ast::ExprKind::Call:
    return callEvaluator.evalCall(*cast<ast::CallExpr>(expr));
  case ast::ExprKind::Index:
    return indexEvaluator.evalIndex(*cast<ast::IndexExpr>(expr));
  case ast::ExprKind::Member:
    return evalMember(*cast<ast::MemberExpr>(expr));
  case ast::ExprKind::List: {
    std::vector<Entity> elements;
    std::vector<SourceRange> places;
    for (const ast::Expr *element : cast<ast::ListExpr>(expr)->elements) {
      elements.push_back(eval(element));
      places.push_back(element->range);
      if (elements.back().isPoison())
        return Poison();
    }
    return Entity::list(std::move(elements), std::move(places));
  }
  case ast::ExprKind::Comprehension:
    return evalComprehension(*cast<ast::ComprehensionExpr>(expr));
  case ast::ExprKind::ListType:
    return reporter.fail(expr->range, "operand-kind",
                         "'list' needs the type of its elements, as in list[f32[4]]");
  case ast::ExprKind::If:
    return branchBuilder.evalIf(*cast<ast::IfExpr>(expr), {});
  case ast::ExprKind::While:
    return loopBuilder.evalWhile(*cast<ast::WhileExpr>(expr));
  case ast::ExprKind::For: {
    const auto &loop = *cast<ast::ForExpr>(expr);
    return loopBuilder.evalForOrScan("for", expr->range, *loop.each, loop.carried, *loop.body);
  }
  case ast::ExprKind::Scan: {
    const auto &loop = *cast<ast::ScanExpr>(expr);
    return loopBuilder.evalForOrScan("scan", expr->range, *loop.each, loop.carried, *loop.body);
  }
  case ast::ExprKind::Dataflow:
    return dataflowBuilder.evalDataflow(*cast<ast::DataflowExpr>(expr));
  }
  return Poison();
}

Entity ExpressionEvaluator::evalName(const ast::NameExpr &expr) {
  std::optional<Entity> value = evaluator.lookup(expr.name, expr.range);
  return value ? *value : advisor.unknownName(expr.name, expr.range);
}

Entity ExpressionEvaluator::evalString(const ast::StringExpr &expr) {
  std::string text;
  raw_string_ostream os(text);
  for (const ast::StringPart &part : expr.parts) {
    if (!part.value) {
      os << part.text;
      continue;
    }
    Entity value = eval(part.value);
    if (value.isPoison())
      return Poison();
    if (const int64_t *number = value.get<int64_t>())
      os << *number;
    else if (const double *number = value.get<double>())
      os << toText(*number);
    else if (const bool *flag = value.get<bool>())
      os << (*flag ? "true" : "false");
    else if (const std::string *string = value.get<std::string>())
      os << *string;
    else if (const dfg::DimExpr *size = value.get<dfg::DimExpr>())
      os << size->str();
    else if (const mlir::Type *type = value.get<mlir::Type>())
      os << dfg::toText(*type);
    else
      return reporter.fail(part.value->range, "not-static",
                           "a string holds static numbers, bools, strings and types, but got {}",
                           value.describe());
  }
  return Entity(text);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Entity ExpressionEvaluator::evalUnary(const ast::UnaryExpr &expr) {
  if (const auto *literal = dyn_cast<ast::IntExpr>(expr.operand);
      literal && expr.op == ast::UnaryOp::Neg && literal->value == uint64_t(1) << 63)
    return Entity(INT64_MIN);
  Entity operand = eval(expr.operand);
  if (operand.isPoison())
    return Poison();
  bool isNeg = expr.op == ast::UnaryOp::Neg;
  if (isNeg && operand.is<double>())
    return Entity(-operand.as<double>());
  if (isNeg && operand.isNumber())
    return staticStage.staticBinary(ast::BinaryOp::Sub, Entity(int64_t(0)), operand, expr.opRange)
        .value_or(Entity());
  if (!isNeg && operand.is<bool>())
    return Entity(!operand.as<bool>());
  mlir::Value value = tensorEmitter.toTensor(operand, {}, expr.operand->range);
  if (!value)
    return Poison();
  Argument argument{{}, expr.operand, expr.operand->range, operand};
  mlir::Value result = tensorEmitter.emit(isNeg ? "neg" : "logical_not", argument, value, {},
                                          expr.opRange, isNeg ? "-" : "not");
  return result ? Entity(result) : Entity();
}

Entity ExpressionEvaluator::evalLogic(const ast::BinaryExpr &expr) {
  Entity lhs = eval(expr.lhs);
  if (lhs.isPoison())
    return Poison();
  bool isOr = expr.op == ast::BinaryOp::Or;
  if (const bool *known = lhs.get<bool>())
    return *known == isOr ? lhs : eval(expr.rhs);
  Entity rhs = eval(expr.rhs);
  if (rhs.isPoison())
    return Poison();
  if (const bool *known = rhs.get<bool>())
    return *known == isOr ? rhs : lhs;
  return runTimeBinary(expr, lhs, rhs);
}

Entity ExpressionEvaluator::evalBinary(const ast::BinaryExpr &expr) {
  if (expr.op == ast::BinaryOp::Or || expr.op == ast::BinaryOp::And)
    return evalLogic(expr);
  Entity lhs = eval(expr.lhs);
  // A variable is read where it is named, before the effects of the right side.
  mlir::Value read;
  if (Variable *const *variable = lhs.get<Variable *>(); variable && context.entry.number)
    read = tensorEmitter.readVariable(**variable, expr.lhs->range);
  Entity rhs = eval(expr.rhs);
  if (lhs.isPoison() || rhs.isPoison())
    return Poison();
  if (std::optional<Entity> result = staticStage.staticBinary(expr.op, lhs, rhs, expr.opRange))
    return *result;
  return runTimeBinary(expr, read ? Entity(read) : lhs, rhs);
}

static StringRef opOf(ast::BinaryOp op) {
  switch (op) {
  case ast::BinaryOp::Or:
    return "logical_or";
  case ast::BinaryOp::And:
    return "logical_and";
  case ast::BinaryOp::Eq:
    return "equal";
  case ast::BinaryOp::Ne:
    return "not_equal";
  case ast::BinaryOp::Lt:
    return "less";
  case ast::BinaryOp::Le:
    return "less_equal";
  case ast::BinaryOp::Gt:
    return "greater";
  case ast::BinaryOp::Ge:
    return "greater_equal";
  case ast::BinaryOp::Add:
    return "add";
  case ast::BinaryOp::Sub:
    return "sub";
  case ast::BinaryOp::Mul:
    return "mul";
  case ast::BinaryOp::Div:
    return "div";
  case ast::BinaryOp::FloorDiv:
    return "floordiv";
  case ast::BinaryOp::Mod:
    return "mod";
  case ast::BinaryOp::Pow:
    return "pow";
  }
  return "";
}

Entity ExpressionEvaluator::runTimeBinary(const ast::BinaryExpr &expr, const Entity &lhs,
                                          const Entity &rhs) {
  mlir::Type lhsType = elementOf(lhs), rhsType = elementOf(rhs);
  // Two sizes, or a size and a number, that cannot be compared statically.
  if (!lhsType && !rhsType && (lhs.is<double>() || rhs.is<double>()))
    lhsType = mlir::Float32Type::get(context.mlir);
  else if (!lhsType && !rhsType)
    lhsType = mlir::IntegerType::get(context.mlir, 64);
  mlir::Value a = tensorEmitter.toTensor(lhs, rhsType ? rhsType : lhsType, expr.lhs->range);
  mlir::Value b = tensorEmitter.toTensor(rhs, lhsType ? lhsType : rhsType, expr.rhs->range);
  if (!a || !b)
    return Poison();
  Argument operands[] = {{{}, expr.lhs, expr.lhs->range, lhs},
                         {{}, expr.rhs, expr.rhs->range, rhs}};
  mlir::Value result =
      tensorEmitter.emit(opOf(expr.op), operands, {a, b}, {}, expr.opRange, ast::spelling(expr.op));
  return result ? Entity(result) : Entity();
}

//===----------------------------------------------------------------------===//
// Members and elements
//===----------------------------------------------------------------------===//

Entity ExpressionEvaluator::evalMember(const ast::MemberExpr &expr) {
  Entity base = eval(expr.base);
  if (base.isPoison())
    return Poison();
  if (Module *const *module = base.get<Module *>())
    return nameResolver.memberOfModule(**module, expr.member);
  if (Instance *const *instance = base.get<Instance *>())
    return nameResolver.memberOfInstance(**instance, expr.member);
  if (const Group *group = base.asSparse() ? base.asSparse() : base.asGroup()) {
    for (auto [name, element] : zip(group->names, group->elements))
      if (name == expr.member.text)
        return element;
    Diagnostic &diagnostic = reporter.error(
        expr.member.range, "unknown-name",
        group->names.empty() ? fmt::format("a group without names has no '{}'", expr.member.text)
                             : fmt::format("there is no result '{}' here", expr.member.text));
    SmallVector<StringRef> names(group->names.begin(), group->names.end());
    reporter.suggestAmong(diagnostic, expr.member.text, names);
    return Poison();
  }
  Diagnostic &diagnostic = reporter.error(expr.member.range, "unknown-name", "{} has no '{}'",
                                          base.describe(), expr.member.text);
  advisor.hintMember(diagnostic, expr);
  return Poison();
}

Entity ExpressionEvaluator::evalComprehension(const ast::ComprehensionExpr &expr) {
  std::vector<Entity> elements;
  bool isPoisoned = false;
  Budget::Scope scope(context.budget, {Expansion::Kind::Comprehension, "", expr.range});
  bool done = binder.forEach(*expr.each, [&](const Entity &) {
    elements.push_back(eval(expr.element));
    isPoisoned |= elements.back().isPoison();
    return !isPoisoned;
  });
  std::vector<SourceRange> places(elements.size(), expr.element->range);
  return done && !isPoisoned ? Entity::list(std::move(elements), std::move(places)) : Entity();
}

} // namespace tfc::text
