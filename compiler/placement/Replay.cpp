//===- Replay.cpp - The time of an entry as it will be divided ------------===//
//
// Runs the operations of a body one after the other on their devices, as partitions will.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Replay.h"
#include "dialects/dfg/HostForm.h"
#include <set>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::placement {

namespace {

/// The clocks of the devices, and when the tasks so far have ended.
class Replay {
public:
  Replay(const EntryGraph &graph, const Schedule &schedule);

  double run(ArrayRef<Operation *> body);

private:
  unsigned deviceOf(unsigned task) const { return schedule.devices[tasks.tasks[task].unit]; }
  void group(ArrayRef<Operation *> body);
  void step(ArrayRef<unsigned> own);
  bool needsCommit() const;

  const TaskGraph &tasks;
  ArrayRef<Operation *> operations;
  const Schedule &schedule;
  std::vector<SmallVector<unsigned, 4>> edgesTo, backEdgesTo; // by task
  std::vector<SmallVector<unsigned>> members;                 // tasks, by operation of the body
  std::vector<unsigned> steps;                                // by task: the operation
  std::vector<double> ends, clocks;
};

} // namespace

Replay::Replay(const EntryGraph &graph, const Schedule &schedule)
    : tasks(graph.getTasks()), operations(graph.getOperations()), schedule(schedule),
      edgesTo(tasks.tasks.size()), backEdgesTo(tasks.tasks.size()), steps(tasks.tasks.size()),
      ends(tasks.tasks.size()), clocks(tasks.deviceCount) {
  for (auto [i, edge] : llvm::enumerate(tasks.edges))
    edgesTo[edge.to].push_back(i);
  for (auto [i, edge] : llvm::enumerate(tasks.backEdges))
    backEdgesTo[edge.to].push_back(i);
}

/// The caller's tasks are steps of their own, before and after those of the body.
void Replay::group(ArrayRef<Operation *> body) {
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (Operation *op : body)
    numbers.try_emplace(op, numbers.size() + 1);
  members.assign(numbers.size() + 2, {});
  for (auto [task, op] : llvm::enumerate(operations)) {
    Operation *step = op;
    while (step && !numbers.contains(step))
      step = step->getParentOp();
    steps[task] = step ? numbers.lookup(step) : task == 0 ? 0 : members.size() - 1;
    members[steps[task]].push_back(task);
  }
}

/// Runs tasks of one operation. Messages within it occupy both devices each time.
void Replay::step(ArrayRef<unsigned> own) {
  std::vector<double> busy(clocks.size());
  llvm::SmallBitVector used(clocks.size());
  std::set<std::pair<unsigned, unsigned>> sent;
  double start = 0;
  auto read = [&](const auto &edge, unsigned device) {
    unsigned from = deviceOf(edge.from);
    double seconds = tasks.transfer(from, device, edge.bytes, edge.times);
    if (steps[edge.from] != steps[edge.to]) {
      start = std::max(start, ends[edge.from] + seconds);
    } else if (sent.emplace(edge.from, device).second) {
      busy[from] += seconds;
      busy[device] += seconds;
    }
  };
  for (unsigned task : own) {
    unsigned device = deviceOf(task);
    used.set(device);
    busy[device] += tasks.tasks[task].seconds[device];
    for (unsigned i : edgesTo[task])
      read(tasks.edges[i], device);
    for (unsigned i : backEdgesTo[task])
      read(tasks.backEdges[i], device);
  }
  double longest = 0;
  for (unsigned device : used.set_bits()) {
    start = std::max(start, clocks[device]);
    longest = std::max(longest, busy[device]);
  }
  for (unsigned device : used.set_bits())
    clocks[device] = start + longest;
  for (unsigned task : own)
    ends[task] = start + longest;
}

/// Returns true if a partition with checks or assignments must know of the checks of another one.
bool Replay::needsCommit() const {
  llvm::SmallBitVector concerned(clocks.size());
  bool fails = false;
  for (auto [task, op] : llvm::enumerate(operations)) {
    if (!op || !(canFail(op) || isa<AssignOp>(op)))
      continue;
    concerned.set(deviceOf(task));
    fails |= canFail(op);
  }
  return fails && concerned.count() > 1;
}

double Replay::run(ArrayRef<Operation *> body) {
  group(body);
  Operation *lastFailing = nullptr;
  if (needsCommit())
    for (Operation *op : body)
      if (canFail(op))
        lastFailing = op;
  step(members.front());
  for (auto [op, own] : llvm::zip(body, ArrayRef(members).drop_front())) {
    step(own);
    if (op == lastFailing)
      clocks.assign(clocks.size(), *llvm::max_element(clocks));
  }
  step(members.back());
  return *llvm::max_element(clocks);
}

double replay(const EntryGraph &graph, const Schedule &schedule, ArrayRef<Operation *> body) {
  return Replay(graph, schedule).run(body);
}

} // namespace tfc::placement
