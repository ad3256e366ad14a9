//===- EarlySends.cpp - Order that sends values early ---------------------===//
//
// The schedule runs the operations with the longest way to the end first. So a gradient of a
// variable, which only its update reads, comes after the gradients of all activations, and no work
// is left to overlap with its message.
//
// The operations of a device are divided into epochs. One begins at each operation that follows
// another one of a different device, for the first time, and at operations that stay where they
// are. Operations move within their epochs only. The orders of all devices then fit into one:
// suppose that x runs before y on a device in the new order, that y comes before x' on a second
// device by dependences, x' runs before y' there, and y' comes before x by dependences. As x waits
// for y', the epoch of x, and that of y, begin after y' in the old order, so y' is before y there.
// In the same way y is before y', which is a contradiction. Longer circles are alike.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/EarlySends.h"
#include "dialects/dfg/HostForm.h"
#include "llvm/ADT/bit.h"
#include <array>
#include <cmath>
#include <functional>
#include <queue>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::placement {

namespace {

/// The operations of a body, by their numbers in the order of the schedule.
struct Body {
  /// In place of a device: of operations that each device computes for itself, and of those that
  /// stay where they are, on whichever devices.
  static constexpr unsigned kEach = ~0u, kFixed = ~0u - 1;

  Body(EntryOp entry, ArrayRef<Operation *> operations, const EntryGraph &graph,
       const Schedule &schedule);

  unsigned size() const { return operations.size(); }
  /// Returns true for what a device may have to run before an operation of its own.
  bool mayRunOn(unsigned op, unsigned device) const {
    return devices[op] == device || devices[op] == kEach;
  }

  ArrayRef<Operation *> operations;
  std::vector<unsigned> devices;
  /// Picoseconds, in whole numbers, so that sums do not depend on the order of their terms.
  std::vector<double> work;
  std::vector<SmallVector<unsigned, 4>> before, reads;
};

/// Operations of one device between two waits.
struct Epoch {
  /// Whether the first operation waits for another device, or stays where it is.
  bool waits;
  std::vector<unsigned> operations;
};

/// The order of the operations of one device. Those of an epoch are added at once.
class DeviceOrder {
public:
  DeviceOrder(const Body &body, unsigned device, const std::vector<bool> &isSent)
      : body(body), isSent(isSent), device(device), isDone(body.size()), waitingFor(body.size()) {}

  void addEpoch(const Epoch &epoch);

  std::vector<unsigned> order;

private:
  /// How many values are compared when the next one is chosen. An operation that is not done is
  /// visited once for each of them that needs it, so the time is linear in the size of the body.
  static constexpr unsigned kCandidates = 64;
  using Mask = uint64_t; // of candidates
  struct Candidate {
    unsigned op;
    double work; // that has to be done for it
  };

  void add(unsigned op);
  void visitNeeded(unsigned op, function_ref<bool(unsigned)> visit) const;
  void addSent(ArrayRef<unsigned> sent);
  void await(unsigned slot, unsigned op);

  const Body &body;
  const std::vector<bool> &isSent;
  unsigned device;
  std::vector<bool> isDone;
  std::vector<Mask> waitingFor; // by operation: the candidates that need it
  std::array<std::optional<Candidate>, kCandidates> candidates;
};

} // namespace

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

Body::Body(EntryOp entry, ArrayRef<Operation *> operations, const EntryGraph &graph,
           const Schedule &schedule)
    : operations(operations), devices(operations.size(), kEach), work(operations.size()),
      before(operations.size()), reads(operations.size()) {
  Block &block = entry.getBody().front();
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (auto [i, op] : llvm::enumerate(operations))
    numbers[op] = i;
  for (auto [number, inner] : llvm::enumerate(graph.getOperations())) {
    if (!inner)
      continue;
    const TaskGraph::Task &task = graph.getTasks().tasks[number];
    unsigned device = schedule.devices[task.unit];
    unsigned op = numbers.lookup(block.findAncestorOpInBlock(*inner));
    devices[op] = mayRunOn(op, device) ? device : kFixed;
    work[op] += std::round(1e12 * task.seconds[device]);
  }
  Dependences dependences = findDependences(block, RunTimeSizes(entry));
  for (auto [i, op] : llvm::enumerate(operations)) {
    if (hasOrderedEffects(op))
      devices[i] = kFixed;
    for (Operation *earlier : dependences.lookup(op))
      if (earlier != op)
        before[i].push_back(numbers.lookup(earlier));
    forEachRead(op, [&](Value value) {
      if (auto known = numbers.find(value.getDefiningOp()); known != numbers.end())
        reads[i].push_back(known->second);
    });
  }
}

/// Visits the operations of other devices that an operation of `device` follows by `edges`, also
/// through what `device` computes for itself; each operation once, as far as `isSeen` knows.
static void visitOthers(const Body &body, ArrayRef<SmallVector<unsigned, 4>> edges, unsigned op,
                        unsigned device, std::vector<bool> &isSeen,
                        function_ref<void(unsigned)> visit) {
  SmallVector<unsigned> work{op};
  while (!work.empty())
    for (unsigned from : edges[work.pop_back_val()]) {
      if (isSeen[from])
        continue;
      isSeen[from] = true;
      if (body.devices[from] == Body::kEach)
        work.push_back(from);
      else if (body.devices[from] != device)
        visit(from);
    }
}

//===----------------------------------------------------------------------===//
// The order of a device
//===----------------------------------------------------------------------===//

/// Visits what the device has to run for an operation, itself included, as far as `visit` returns
/// true.
void DeviceOrder::visitNeeded(unsigned op, function_ref<bool(unsigned)> visit) const {
  SmallVector<unsigned> work{op};
  while (!work.empty()) {
    unsigned next = work.pop_back_val();
    if (isDone[next] || !body.mayRunOn(next, device) || !visit(next))
      continue;
    llvm::append_range(work, body.before[next]);
  }
}

/// Adds an operation after what it needs.
void DeviceOrder::add(unsigned op) {
  if (isDone[op])
    return;
  if (body.devices[op] == Body::kFixed) { // what it needs is in earlier epochs
    order.push_back(op);
    isDone[op] = true;
    return;
  }
  SmallVector<unsigned> needed;
  llvm::SmallDenseSet<unsigned> isNeeded;
  visitNeeded(op, [&](unsigned earlier) {
    bool isNew = isNeeded.insert(earlier).second;
    if (isNew)
      needed.push_back(earlier);
    return isNew;
  });
  llvm::sort(needed);
  for (unsigned next : needed) {
    isDone[next] = true;
    if (body.devices[next] != Body::kEach)
      order.push_back(next);
    for (Mask rest = waitingFor[next]; rest; rest &= rest - 1)
      if (auto &candidate = candidates[llvm::countr_zero(rest)])
        candidate->work -= body.work[next];
  }
}

void DeviceOrder::await(unsigned slot, unsigned op) {
  Mask bit = Mask(1) << slot;
  double work = 0;
  visitNeeded(op, [&](unsigned earlier) {
    if (waitingFor[earlier] & bit)
      return false;
    waitingFor[earlier] |= bit;
    work += body.work[earlier];
    return true;
  });
  candidates[slot] = {op, work};
}

/// Adds operations whose results other devices read, those that can be done first one by one.
void DeviceOrder::addSent(ArrayRef<unsigned> sent) {
  while (true) {
    unsigned best = kCandidates;
    for (unsigned slot = 0; slot < kCandidates; ++slot) {
      std::optional<Candidate> &candidate = candidates[slot];
      if (candidate && isDone[candidate->op])
        candidate.reset();
      while (!candidate && !sent.empty()) {
        if (!isDone[sent.front()])
          await(slot, sent.front());
        sent = sent.drop_front();
      }
      auto key = [&](unsigned slot) {
        return std::pair(candidates[slot]->work, candidates[slot]->op);
      };
      if (candidate && (best == kCandidates || key(slot) < key(best)))
        best = slot;
    }
    if (best == kCandidates)
      return;
    add(candidates[best]->op);
  }
}

/// The operation for which the device waits stays the first, so that the wait is where the schedule
/// has it.
void DeviceOrder::addEpoch(const Epoch &epoch) {
  if (epoch.waits)
    add(epoch.operations.front());
  for (unsigned op : epoch.operations)
    if (isa<CheckOp>(body.operations[op]))
      add(op);
  addSent(llvm::filter_to_vector(epoch.operations, [&](unsigned op) { return isSent[op]; }));
  for (unsigned op : epoch.operations)
    add(op);
}

//===----------------------------------------------------------------------===//
// All devices
//===----------------------------------------------------------------------===//

/// Returns whether each operation has a value that another device reads.
static std::vector<bool> findSent(const Body &body, unsigned deviceCount) {
  std::vector<bool> isSent(body.size());
  std::vector<std::vector<unsigned>> readers(deviceCount + 1);
  for (unsigned op = 0; op < body.size(); ++op)
    if (unsigned device = body.devices[op]; device != Body::kEach)
      readers[std::min(device, deviceCount)].push_back(op);
  for (auto [device, operations] : llvm::enumerate(readers)) {
    std::vector<bool> isSeen(body.size());
    for (unsigned op : operations)
      visitOthers(body, body.reads, op, device, isSeen,
                  [&](unsigned from) { isSent[from] = true; });
  }
  return isSent;
}

static std::vector<Epoch> findEpochs(const Body &body, unsigned device) {
  std::vector<Epoch> epochs;
  std::vector<bool> isSeen(body.size());
  bool isOpen = false;
  for (unsigned op = 0; op < body.size(); ++op) {
    bool isFixed = body.devices[op] == Body::kFixed;
    if (!isFixed && body.devices[op] != device)
      continue;
    bool waits = false;
    visitOthers(body, body.before, op, device, isSeen, [&](unsigned) { waits = true; });
    if (!isOpen || isFixed || waits)
      epochs.push_back({waits || isFixed, {}});
    epochs.back().operations.push_back(op);
    isOpen = !isFixed;
  }
  return epochs;
}

/// Returns the operations in an order that has those of each device in theirs, and is close to that
/// of their numbers.
static std::vector<unsigned> merge(const Body &body, ArrayRef<std::vector<unsigned>> orders) {
  std::vector<SmallVector<unsigned, 4>> after(body.size());
  std::vector<unsigned> waitingFor(body.size());
  auto runBefore = [&](unsigned first, unsigned second) {
    after[first].push_back(second);
    ++waitingFor[second];
  };
  for (unsigned op = 0; op < body.size(); ++op)
    for (unsigned earlier : body.before[op])
      runBefore(earlier, op);
  for (ArrayRef<unsigned> order : orders)
    for (unsigned i = 1; i < order.size(); ++i)
      runBefore(order[i - 1], order[i]);
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (unsigned op = 0; op < body.size(); ++op)
    if (waitingFor[op] == 0)
      ready.push(op);
  std::vector<unsigned> result;
  while (!ready.empty()) {
    unsigned op = ready.top();
    ready.pop();
    result.push_back(op);
    for (unsigned next : after[op])
      if (--waitingFor[next] == 0)
        ready.push(next);
  }
  assert(result.size() == body.size() && "the devices wait for each other in a circle");
  return result;
}

void sendEarly(EntryOp entry, SmallVectorImpl<Operation *> &operations, const EntryGraph &graph,
               const Schedule &schedule) {
  Body body(entry, operations, graph, schedule);
  unsigned deviceCount = graph.getTasks().deviceCount;
  std::vector<bool> isSent = findSent(body, deviceCount);
  std::vector<std::vector<unsigned>> orders;
  for (unsigned device = 0; device < deviceCount; ++device) {
    DeviceOrder order(body, device, isSent);
    for (const Epoch &epoch : findEpochs(body, device))
      order.addEpoch(epoch);
    orders.push_back(std::move(order.order));
  }
  SmallVector<Operation *> sorted;
  for (unsigned op : merge(body, orders))
    sorted.push_back(operations[op]);
  operations.swap(sorted);
}

} // namespace tfc::placement
