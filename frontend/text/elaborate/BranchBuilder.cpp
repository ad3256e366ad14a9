// Elaborates 'if' on run-time values. A 'static if' creates no operation and is executed in
// StatementRunner.cpp.
#include "frontend/text/elaborate/BranchBuilder.h"

#include "frontend/text/elaborate/BlockRunner.h"
#include "frontend/text/elaborate/RegionEditor.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/StatementRunner.h"
#include "frontend/text/elaborate/TensorEmitter.h"

using namespace llvm;

namespace tfc::text {

bool BranchBuilder::runBranch(RunTimeBlock &block, mlir::Block &into, const ast::IfExpr &expr,
                              bool isElse, ArrayRef<mlir::Type> hints) {
  block.keyword = "if";
  return blockRunner.runBlock(
      block, into, [] {},
      [&] {
        if (!isElse || !expr.elseIf) {
          const ast::Block *body = isElse ? expr.elseBlock : expr.thenBlock;
          if (body)
            statementRunner.execBlock(*body);
          return none_of(block.values, [](const Entity &value) { return value.isPoison(); });
        }
        const auto *next = cast<ast::ExprStmt>(expr.elseBlock->statements.front());
        if (!isa<ast::IfExpr>(next->expr))
          return false;
        Entity value = evalIf(*cast<ast::IfExpr>(next->expr), hints);
        if (value.isPoison())
          return false;
        block.hasYielded = !value.is<Nothing>();
        block.yieldedAt = next->range;
        if (const Group *group = value.asGroup())
          block.values = group->elements;
        else if (block.hasYielded)
          block.values.push_back(value);
        block.valuesAt.assign(block.values.size(), next->range);
        return true;
      });
}

/// The element types of numbers: those of the values that the other branch yields in their place.
static SmallVector<mlir::Type> hintsFrom(const RunTimeBlock &block, ArrayRef<mlir::Type> outer) {
  SmallVector<mlir::Type> hints;
  for (auto [i, value] : enumerate(block.values)) {
    mlir::Type element = elementOf(value);
    hints.push_back(element ? element : i < outer.size() ? outer[i] : mlir::Type());
  }
  return hints;
}

/// The values of both branches; false after an error.
bool BranchBuilder::joinBranches(RunTimeBlock &onTrue, RunTimeBlock &onFalse, dfg::IfOp op,
                                 ArrayRef<mlir::Type> hints, const ast::IfExpr &expr,
                                 std::vector<mlir::Value> &thenValues,
                                 std::vector<mlir::Value> &elseValues) {
  if (!expr.elseBlock && onTrue.hasYielded && !onTrue.values.empty()) {
    reporter.error(onTrue.yieldedAt, "missing-else", "this 'if' yields a value, but has no 'else'")
        .help("yield a value otherwise: else { yield .. }");
    return false;
  }
  if (onTrue.values.size() != onFalse.values.size()) {
    SourceRange at = onFalse.hasYielded ? onFalse.yieldedAt : expr.range;
    Diagnostic &diagnostic = reporter.error(
        at, "branch-type",
        "the branches of an 'if' yield the same number of values, but these yield {} and {}",
        onTrue.values.size(), onFalse.values.size());
    if (onTrue.hasYielded)
      diagnostic.note(onTrue.yieldedAt, "the first branch");
    return false;
  }
  for (size_t i = 0; i < onTrue.values.size(); ++i) {
    mlir::Type known = elementOf(onTrue.values[i]);
    mlir::Type other = elementOf(onFalse.values[i]);
    mlir::Type preferred = known              ? known
                           : other            ? other
                           : i < hints.size() ? hints[i]
                                              : mlir::Type();
    bool isReal = onTrue.values[i].is<double>() || onFalse.values[i].is<double>();
    if (!preferred && isReal)
      preferred = mlir::Float32Type::get(context.mlir);
    context.builder.toEnd(op.getThenBlock());
    mlir::Value a = tensorEmitter.toValue(onTrue.values[i], preferred, onTrue.valuesAt[i]);
    context.builder.toEnd(op.getElseBlock());
    mlir::Value b = tensorEmitter.toValue(onFalse.values[i], preferred, onFalse.valuesAt[i]);
    if (!a || !b)
      return false;
    if (a.getType() != b.getType()) {
      reporter
          .error(onFalse.valuesAt[i], "branch-type",
                 "the branches of an 'if' yield the same types, but these yield {} and {}",
                 dfg::toText(a.getType()), dfg::toText(b.getType()))
          .note(onTrue.valuesAt[i], "the first branch");
      return false;
    }
    thenValues.push_back(a);
    elseValues.push_back(b);
  }
  return true;
}

Entity BranchBuilder::evalIf(const ast::IfExpr &expr, ArrayRef<mlir::Type> hints) {
  mlir::Value condition = tensorEmitter.evalPredicate(expr.condition, "if");
  if (!condition)
    return Poison();
  dfg::IfOp op = context.builder.beginIf(condition, reporter.locate(expr.range));
  mlir::OpBuilder::InsertPoint outside = context.builder.position();
  RunTimeBlock onTrue, onFalse;
  bool ok = runBranch(onTrue, op.getThenBlock(), expr, /*isElse=*/false, {});
  SmallVector<mlir::Type> elseHints = hintsFrom(onTrue, hints);
  ok &= runBranch(onFalse, op.getElseBlock(), expr, /*isElse=*/true, elseHints);
  std::vector<mlir::Value> thenValues, elseValues;
  ok = ok && joinBranches(onTrue, onFalse, op, hints, expr, thenValues, elseValues);
  if (!ok) {
    context.builder.restore(outside);
    return Poison();
  }
  op = context.builder.finishIf(op, thenValues, elseValues);
  regionEditor.finishRegions(op);
  if (op.getNumResults() == 0)
    return Entity(Nothing{});
  if (op.getNumResults() == 1)
    return Entity(mlir::Value(op.getResult(0)));
  std::vector<Entity> results;
  for (mlir::Value result : op.getResults())
    results.push_back(Entity(result));
  return Entity::group(std::move(results));
}

} // namespace tfc::text
