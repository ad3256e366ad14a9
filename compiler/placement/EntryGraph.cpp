//===- EntryGraph.cpp - The tasks of an entry -----------------------------===//
//
// Follows values to the tasks that make them, through branches and loops, and the values that
// iterations pass on. Clusters.cpp forms the units.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/EntryGraph.h"
#include "dialects/dfg/HostForm.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::placement {

EntryGraph::EntryGraph(EntryOp entry, const PlacementContext &context)
    : entry(entry), context(context), free(entry), work(entry), graph(context.machine.size()) {
  for (unsigned from = 0; from < graph.deviceCount; ++from)
    for (unsigned to = 0; to < graph.deviceCount; ++to)
      graph.links[from * graph.deviceCount + to] = context.machine.getLink(from, to);
  addTasks();
  formUnits();
}

std::optional<unsigned> EntryGraph::taskOf(Operation *op) const {
  auto known = numbers.find(op);
  return known == numbers.end() ? std::nullopt : std::optional(known->second);
}

double EntryGraph::getTotal() const {
  double total = 0;
  for (const TaskGraph::Task &task : graph.tasks)
    total += task.seconds[0];
  return total;
}

void EntryGraph::addTasks() {
  Block &body = entry.getBody().front();
  times[&body] = 1;
  operations.push_back(nullptr);
  graph.tasks.push_back({0, std::vector<double>(graph.deviceCount)});
  entry.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    double own = timesOf(op->getBlock());
    auto loop = dyn_cast<WhileOp>(op);
    for (Region &region : op->getRegions())
      times[&region.front()] = loop ? own * work.tripsOf(loop) : own;
    if (loop)
      loops.try_emplace(loop, loops.size());
    bool isTask =
        op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>() && !free.isCopied(op);
    if (!isTask)
      return;
    numbers[op] = operations.size();
    operations.push_back(op);
    TaskGraph::Task &task = graph.tasks.emplace_back();
    for (unsigned device = 0; device < graph.deviceCount; ++device)
      task.seconds.push_back(own * work.secondsOf(op, context.machine.getFigures(device)));
  });
  operations.push_back(nullptr);
  graph.tasks.push_back(graph.tasks.front());
  std::optional<unsigned> lastOrdered;
  for (auto [task, op] : llvm::enumerate(operations)) {
    if (!op)
      continue;
    addEdges(op, task);
    if (!hasOrderedEffects(op))
      continue;
    if (lastOrdered)
      graph.edges.push_back({*lastOrdered, unsigned(task), -1, 1});
    lastOrdered = task;
  }
  for (Value fetch : body.getTerminator()->getOperands())
    addReads(fetch, operations.size() - 1);
}

void EntryGraph::addEdges(Operation *op, unsigned task) {
  for (Value operand : op->getOperands())
    addReads(operand, task);
  for (Operation *around = op->getParentOp(); around != entry; around = around->getParentOp())
    addControl(around, task);
}

void EntryGraph::addReads(Value value, unsigned task) {
  // The first value of a loop is made, and sent, outside of it.
  auto isCarried = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isa<WhileOp>(argument.getOwner()->getParentOp());
  };
  Block *made = value.getParentBlock();
  if (isCarried(value))
    made = made->getParentOp()->getBlock();
  double bytes = work.bytesOf(value.getType()), count = timesOf(made);
  for (unsigned from : sourcesOf(value))
    if (from < task)
      graph.edges.push_back({from, task, bytes, count});
  addNextValues(value, task);
}

/// A value that the loop carries was made by the iteration before, too.
void EntryGraph::addNextValues(Value value, unsigned task) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<WhileOp>(argument.getOwner()->getParentOp()) : WhileOp();
  if (!loop)
    return;
  double bytes = work.bytesOf(value.getType()), count = timesOf(&loop.getBodyBlock());
  for (unsigned from : sourcesOf(loop.getYield().getValues()[argument.getArgNumber()]))
    graph.backEdges.push_back({loops.lookup(loop), from, task, bytes, count});
}

/// Operations in a branch or loop wait for its condition, on each device that runs it.
void EntryGraph::addControl(Operation *op, unsigned task) {
  if (auto branch = dyn_cast<IfOp>(op)) {
    for (unsigned from : sourcesOf(branch.getCondition()))
      if (from < task)
        graph.edges.push_back({from, task, 1, timesOf(op->getBlock())});
    return;
  }
  auto loop = cast<WhileOp>(op);
  for (unsigned from : sourcesOf(loop.getCondition().getCondition()))
    graph.backEdges.push_back({loops.lookup(loop), from, task, 1, timesOf(&loop.getBodyBlock())});
}

const EntryGraph::Sources &EntryGraph::sourcesOf(Value value) {
  auto known = sources.find(value);
  if (known != sources.end())
    return known->second;
  Sources found = findSources(value);
  llvm::sort(found);
  found.erase(llvm::unique(found), found.end());
  return sources[value] = std::move(found);
}

/// Carried values lead to what the loop starts with, results of loops to what the last iteration
/// made.
EntryGraph::Sources EntryGraph::findSources(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  if (op == entry)
    return {0};
  if (argument)
    return sourcesOf(cast<WhileOp>(op).getInits()[argument.getArgNumber()]);
  if (std::optional<unsigned> task = taskOf(op))
    return {*task};
  if (free.contains(op))
    return {};
  Sources found;
  auto add = [&](Value read) {
    Sources more = sourcesOf(read);
    llvm::append_range(found, more);
  };
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<WhileOp>(op))
    add(loop.getYield().getValues()[number]);
  else if (isa<IfOp>(op))
    for (Region &region : op->getRegions())
      add(region.front().getTerminator()->getOperand(number));
  else
    for (Value operand : op->getOperands())
      add(operand);
  return found;
}

} // namespace tfc::placement
