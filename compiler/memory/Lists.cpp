// Chunks for the lists and tapes of an entry. A list that is not read after it changes shares its
// chunk with the changed list.

#include "compiler/memory/Lists.h"
#include "dialects/dfg/MemoryPlan.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::memory {

ListPlan::ListPlan(EntryOp entry) {
  entry.walk([&](TapeAccessOpInterface access) {
    tapes.insert(SymbolTable::lookupNearestSymbolFrom<TapeOp>(access, access.getTapeAttr()));
  });
  count = tapes.size();
  visit(entry.getBody().front());
}

std::optional<unsigned> ListPlan::chunkOf(Value list) const {
  auto chunk = chunks.find(list);
  return chunk == chunks.end() ? std::nullopt : std::optional(chunk->second);
}

void ListPlan::visit(Block &block) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<WhileOp>(op))
      visitLoop(loop);
    else if (auto branch = dyn_cast<IfOp>(op))
      visitBranch(branch);
    else if (auto write = dyn_cast<ListWriteOp>(op))
      take(write.getResult(), write.getList(), write);
    else if (isa<ListCreateOp, ListUnstackOp>(op) && !isListView(op.getResult(0)))
      chunks[op.getResult(0)] = count++;
  }
}

/// Assigns to `result` the chunk of `list`, which `op` changes, if this is its last use, else a new
/// one.
void ListPlan::take(Value result, Value list, Operation *op) {
  bool mayTake = chunks.contains(list) && isLastUse(list, op);
  unsigned chunk = mayTake ? chunks.lookup(list) : count++;
  chunks[result] = chunk;
}

/// Returns true if nothing reads the list after `op` has started. Returns false if `op` reads it
/// twice.
bool ListPlan::isLastUse(Value list, Operation *op) const {
  if (llvm::count(op->getOperands(), list) > 1)
    return false;
  for (Operation *current = op; current; current = current->getParentOp()) {
    Block *block = current->getBlock();
    for (Operation *user : list.getUsers()) {
      Operation *step = block->findAncestorOpInBlock(*user);
      // Regions of `op` itself read the list while it changes; the operations around them have
      // already been visited.
      if (step && (current->isBeforeInBlock(step) || (step == op && user != op)))
        return false;
    }
    if (block == list.getParentBlock())
      return true;
    if (isa<WhileOp>(block->getParentOp()))
      return false;
  }
  return false;
}

void ListPlan::visitLoop(WhileOp loop) {
  for (auto [i, init] : llvm::enumerate(loop.getInits())) {
    if (!isa<ListType>(init.getType()))
      continue;
    Value result = loop.getResult(i);
    take(result, init, loop);
    for (Block *block : {&loop.getConditionBlock(), &loop.getBodyBlock()})
      chunks[block->getArgument(i)] = chunks.lookup(result);
  }
  visit(loop.getConditionBlock());
  visit(loop.getBodyBlock());
}

void ListPlan::visitBranch(IfOp op) {
  visit(op.getThenBlock());
  visit(op.getElseBlock());
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (!isa<ListType>(result.getType()))
      continue;
    Value onTrue = op.getThenYield().getValues()[i], onFalse = op.getElseYield().getValues()[i];
    auto chunk = chunks.find(onTrue), other = chunks.find(onFalse);
    bool isShared = chunk != chunks.end() && other != chunks.end() &&
                    chunk->second == other->second && isLastUse(onTrue, op.getThenYield()) &&
                    isLastUse(onFalse, op.getElseYield());
    unsigned own = isShared ? chunk->second : count++;
    chunks[result] = own;
  }
}

} // namespace tfc::memory
