// Opens and closes the scope of a run-time block, and collects what the block yields. Branches,
// loops and 'dataflow' build their operations around it.
#include "frontend/text/elaborate/BlockRunner.h"

#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/TensorEmitter.h"

using namespace llvm;

namespace tfc::text {

bool BlockRunner::runBlock(RunTimeBlock &block, mlir::Block &into, function_ref<void()> bind,
                           function_ref<bool()> body) {
  SaveAndRestore<unsigned> depth(context.budget.blockDepth, context.budget.blockDepth + 1);
  if (context.budget.blockDepth > ast::kMaxNesting) {
    reporter.error(context.activation->callSite, "too-deep",
                   "run-time blocks are nested more than {} levels deep, through calls",
                   ast::kMaxNesting);
    context.budget.stop();
  }
  context.builder.toEnd(into);
  // The scope of its names ends with the block.
  StringMap<Local> outer = context.activation->locals;
  size_t dims = context.activation->dims.size();
  SaveAndRestore<RunTimeBlock *> inner(context.activation->block, &block);
  SaveAndRestore<std::optional<dfg::Recompute>> loopsOutside(context.recompute, std::nullopt);
  auto knownReads = context.entry.reads;
  // A later iteration may read what an earlier one has assigned.
  if (block.keyword != "if")
    context.entry.reads.clear();
  bind();
  bool ok = body();
  context.entry.reads = std::move(knownReads);
  for (const auto &local : context.activation->locals)
    if (!outer.contains(local.getKey()))
      context.activation->ended[local.getKey()] = {local.second.at, block.keyword};
  context.activation->locals = std::move(outer);
  context.activation->dims.resize(dims);
  return ok;
}

void BlockRunner::execYield(const ast::YieldStmt &stmt) {
  RunTimeBlock *block = context.activation->block;
  if (!block) {
    reporter.error(stmt.range, "misplaced", "'yield' is allowed only in a run-time block");
    return;
  }
  block->hasYielded = true;
  block->yieldedAt = stmt.range;
  if (!stmt.stacked.empty() && block->keyword != "scan")
    reporter.error(stmt.stacked.front()->range, "misplaced",
                   "only 'scan' stacks the values after ';', and this is '{}'", block->keyword);
  auto add = [&](const ast::Expr *expr, std::vector<Entity> &values,
                 SmallVectorImpl<SourceRange> &places) {
    Entity value = evaluator.eval(expr);
    // A variable is read where it is yielded.
    if (Variable *const *variable = value.get<Variable *>()) {
      mlir::Value read = tensorEmitter.readVariable(**variable, expr->range);
      value = read ? Entity(read) : Entity();
    }
    values.push_back(value);
    places.push_back(expr->range);
  };
  for (auto [i, expr] : enumerate(stmt.values)) {
    context.expected.reset();
    mlir::Type carried = i < block->carried.size() ? block->carried[i] : mlir::Type();
    if (isa_and_nonnull<mlir::RankedTensorType>(carried))
      context.expected = TensorType{dfg::elementTypeOf(carried), dfg::shapeOf(carried)};
    add(expr, block->values, block->valuesAt);
  }
  context.expected.reset();
  for (const ast::Expr *expr : stmt.stacked)
    add(expr, block->stacked, block->stackedAt);
}

} // namespace tfc::text
