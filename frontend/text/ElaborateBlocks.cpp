#include "frontend/text/ElaborateImpl.h"

using namespace llvm;

namespace tfc::text {

bool Elaborator::runBlock(RunTimeBlock &block, mlir::Block &into, function_ref<void()> bind,
                          function_ref<bool()> body) {
  SaveAndRestore<unsigned> depth(budget.blockDepth, budget.blockDepth + 1);
  if (budget.blockDepth > ast::kMaxNesting) {
    error(frame->callSite, "too-deep",
          "run-time blocks are nested more than " + Twine(ast::kMaxNesting) +
              " levels deep, through calls");
    budget.stop();
  }
  builder.toEnd(into);
  // The names that it binds end with it.
  StringMap<Local> outer = frame->locals;
  size_t dims = frame->dims.size();
  SaveAndRestore<RunTimeBlock *> inner(frame->block, &block);
  SaveAndRestore<std::string> loopsOutside(recompute, "");
  auto knownReads = reads;
  // A later iteration may read what an earlier one has assigned.
  if (block.keyword != "if")
    reads.clear();
  bind();
  bool ok = body();
  reads = std::move(knownReads);
  for (const auto &local : frame->locals)
    if (!outer.contains(local.getKey()))
      frame->ended[local.getKey()] = {local.second.at, block.keyword};
  frame->locals = std::move(outer);
  frame->dims.resize(dims);
  return ok;
}

void Elaborator::execYield(const ast::YieldStmt &stmt) {
  RunTimeBlock *block = frame->block;
  if (!block) {
    error(stmt.range, "misplaced", "'yield' belongs to a run-time block");
    return;
  }
  block->hasYielded = true;
  block->yieldedAt = stmt.range;
  if (!stmt.stacked.empty() && block->keyword != "scan")
    error(stmt.stacked.front()->range, "misplaced",
          "only 'scan' stacks what stands behind ';', and this is '" + block->keyword + "'");
  auto add = [&](const ast::Expr *expr, std::vector<Entity> &values,
                 SmallVectorImpl<SourceRange> &places) {
    Entity value = eval(expr);
    // A variable is read where it is yielded.
    if (Variable *const *variable = value.get<Variable *>()) {
      mlir::Value read = readVariable(**variable, expr->range);
      value = read ? Entity(read) : Entity();
    }
    values.push_back(value);
    places.push_back(expr->range);
  };
  for (auto [i, expr] : enumerate(stmt.values)) {
    expected.reset();
    mlir::Type carried = i < block->carried.size() ? block->carried[i] : mlir::Type();
    if (isa_and_nonnull<mlir::RankedTensorType>(carried))
      expected = TensorType{dfg::elementTypeOf(carried), dfg::shapeOf(carried)};
    add(expr, block->values, block->valuesAt);
  }
  expected.reset();
  for (const ast::Expr *expr : stmt.stacked)
    add(expr, block->stacked, block->stackedAt);
}

bool Elaborator::checkRebinding(const ast::Name &name) {
  const Local *local = name.isDiscard() || !name ? nullptr : frame->find(name.text);
  if (!frame->block || !local || local->block == frame->block)
    return true;
  StringRef keyword = frame->block->keyword;
  Diagnostic &diagnostic = error(name.range, "rebinding",
                                 "'" + name.text + "' is bound outside of this '" + keyword +
                                     "', and a run-time block cannot bind it again");
  diagnostic.note(local->at, "bound here");
  if (keyword == "if")
    diagnostic.help("let both branches yield it: " + name.text +
                    " = if .. { yield .. } else { yield " + name.text + " }");
  else if (keyword == "dataflow")
    diagnostic.help("give it a name of its own");
  else
    diagnostic.help("carry it: 'with " + name.text + " = " + name.text +
                    "', and yield its next value");
  return false;
}

void Elaborator::finishRegions(mlir::Operation *op) {
  StringSet<> assigned;
  SmallVector<dfg::ReadOp> found;
  op->walk([&](mlir::Operation *nested) {
    if (auto assign = dyn_cast<dfg::AssignOp>(nested))
      assigned.insert(assign.getVariable());
    else if (auto read = dyn_cast<dfg::ReadOp>(nested))
      found.push_back(read);
  });
  bool isGraph = isa<dfg::DataflowOp>(builder.currentBlock()->getParentOp());
  for (dfg::ReadOp read : found) {
    Variable *variable = variablesByPath.lookup(read.getVariable());
    if (assigned.contains(read.getVariable()) || isa<dfg::NodeOp>(read->getParentOp()))
      continue;
    mlir::Value known = isGraph ? mlir::Value() : reads.lookup(variable);
    if (known) {
      read.getValue().replaceAllUsesWith(known);
      read.erase();
      continue;
    }
    read->moveBefore(op);
    if (!isGraph)
      reads[variable] = read.getValue();
  }
  for (const auto &name : assigned)
    reads.erase(variablesByPath.lookup(name.getKey()));
}

void Elaborator::outsideOfRegions(function_ref<void()> build) {
  mlir::Block *block = builder.currentBlock();
  mlir::Block *top = builder.currentEntry() ? &builder.currentEntry().getBody().front() : nullptr;
  if (!top || !block || block == top) {
    build();
    return;
  }
  mlir::OpBuilder::InsertPoint point = builder.position();
  builder.before(top->findAncestorOpInBlock(*block->getParentOp()));
  auto knownReads = std::move(reads);
  auto outerLoops = std::move(loops);
  reads.clear();
  loops.clear();
  build();
  reads = std::move(knownReads);
  loops = std::move(outerLoops);
  builder.restore(point);
}

mlir::Value Elaborator::evalPredicate(const ast::Expr *expr, StringRef keyword) {
  return toPredicate(evalTensor(expr), keyword, expr->range);
}

mlir::Value Elaborator::toPredicate(mlir::Value value, StringRef taker, SourceRange at) {
  if (!value)
    return {};
  auto type = cast<mlir::RankedTensorType>(value.getType());
  if (type.getElementType().isInteger(1) && type.getRank() == 0)
    return value;
  Diagnostic &diagnostic =
      error(at, "condition-type", "'" + taker + "' needs one bool, but got " + dfg::toText(type));
  if (type.getElementType().isInteger(1))
    diagnostic.help("all(..) or any(..) makes one of many");
  return {};
}

} // namespace tfc::text
