//===- CheckMessages.cpp - Partitions cannot wait in a circle -------------===//
//
// Verifies the order of messages by the waits that it implies. The operations on messages of all
// partitions are nodes of a graph: each waits for the one before it in its partition, a receive for
// its send, the wait for a release for the last reader of the message, and commits for each other.
// A circle is a deadlock. A message without a wait for its release could be overwritten too early.
// A loop counts once: both ends of a slot, and commits, are in the same loop, so each iteration has
// the same waits.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/Passes.h"
#include "dialects/dfg/MessageOps.h"
#include "dialects/dfg/Partitions.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_CHECKMESSAGES
#include "compiler/partition/Passes.h.inc"

namespace {

class WaitGraph {
public:
  explicit WaitGraph(ArrayRef<EntryOp> partitions) : partitions(partitions) {}

  /// Emits an error and fails if the ends of a slot, or the commits of a round, are in different
  /// branches or loops, or if partitions wait for each other in a circle.
  LogicalResult verify();

private:
  void addNodes(EntryOp partition);
  LogicalResult pairCommits(EntryOp partition);
  void waitForRelease(AwaitReleaseOp wait);
  bool pairRegions(Operation *a, Operation *b);
  LogicalResult pairSlot(SendOp send, ReceiveOp receive);
  LogicalResult findCircle();
  LogicalResult verifyReleases();
  LogicalResult report(Operation *op);

  ArrayRef<EntryOp> partitions;
  llvm::MapVector<Operation *, SmallVector<Operation *>> waits;
  DenseMap<unsigned, SendOp> sends;
  DenseMap<unsigned, ReceiveOp> receives;
  /// Commits of the first partition, which stand for those of the others.
  SmallVector<Operation *> commits;
  DenseMap<Operation *, Operation *> sameCommit;
  /// The branches and loops of other partitions that a branch or loop is the same as.
  DenseMap<std::pair<Operation *, EntryOp>, Operation *> same;
};

} // namespace

void WaitGraph::addNodes(EntryOp partition) {
  Operation *last = nullptr;
  size_t round = 0;
  partition.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!slotOf(op) && !isa<CommitOp>(op))
      return;
    if (auto send = dyn_cast<SendOp>(op))
      sends[send.getSlot()] = send;
    if (auto receive = dyn_cast<ReceiveOp>(op))
      receives[receive.getSlot()] = receive;
    if (isa<CommitOp>(op)) {
      if (round == commits.size())
        commits.push_back(op);
      op = sameCommit[op] = commits[round++];
    }
    SmallVector<Operation *> &earlier = waits[op];
    if (last)
      earlier.push_back(last);
    last = op;
  });
}

/// A message is released after its last reader, which waits for the messages before it.
void WaitGraph::waitForRelease(AwaitReleaseOp wait) {
  ReceiveOp receive = receives.lookup(wait.getSlot());
  Operation *last = lastReaderOf(receive);
  waits[wait].push_back(receive);
  for (Operation *op = last; op != receive; op = op->getPrevNode()) {
    Operation *message = nullptr;
    op->walk([&](Operation *nested) {
      if (slotOf(nested))
        message = nested;
      else if (isa<CommitOp>(nested))
        message = sameCommit.lookup(nested);
    });
    if (!message)
      continue;
    waits[wait].push_back(message);
    return;
  }
}

/// Operations of two partitions run equally often only if they are in the same branches and loops.
bool WaitGraph::pairRegions(Operation *a, Operation *b) {
  auto entryOf = [](Operation *op) { return op->getParentOfType<EntryOp>(); };
  EntryOp first = entryOf(a), second = entryOf(b);
  auto isPair = [&](Operation *x, Operation *y) {
    Operation *known = same.try_emplace({x, second}, y).first->second;
    Operation *reverse = same.try_emplace({y, first}, x).first->second;
    return x->getName() == y->getName() && known == y && reverse == x;
  };
  Region *from = a->getParentRegion(), *to = b->getParentRegion();
  while (from->getParentOp() != first && to->getParentOp() != second) {
    if (from->getRegionNumber() != to->getRegionNumber() ||
        !isPair(from->getParentOp(), to->getParentOp()))
      return false;
    from = from->getParentRegion();
    to = to->getParentRegion();
  }
  return from->getParentOp() == first && to->getParentOp() == second;
}

LogicalResult WaitGraph::pairSlot(SendOp send, ReceiveOp receive) {
  if (pairRegions(send, receive))
    return success();
  InFlightDiagnostic error = receive.emitOpError("of slot ")
                             << receive.getSlot()
                             << " is not in the same branches and loops as its 'dfg.send'";
  error.attachNote(send.getLoc()) << "this sends to it";
  return error;
}

LogicalResult WaitGraph::pairCommits(EntryOp partition) {
  SmallVector<Operation *> own;
  partition.getBody().walk<WalkOrder::PreOrder>([&](CommitOp op) { own.push_back(op); });
  if (own.size() != commits.size())
    return partition.emitOpError("has ")
           << own.size() << " commits, another partition has " << commits.size();
  for (Operation *op : own)
    if (Operation *other = sameCommit.lookup(op); op != other && !pairRegions(op, other)) {
      InFlightDiagnostic error =
          op->emitOpError("is not in the same branches and loops as that of another partition");
      error.attachNote(other->getLoc()) << "this is the other one";
      return error;
    }
  return success();
}

LogicalResult WaitGraph::report(Operation *op) {
  return op->emitOpError("waits for itself, through other partitions");
}

/// Visits what operations wait for, depth first.
LogicalResult WaitGraph::findCircle() {
  enum class State { Open, Done };
  DenseMap<Operation *, State> states;
  for (auto &[root, unused] : waits) {
    SmallVector<std::pair<Operation *, size_t>> path;
    auto enter = [&](Operation *op) {
      auto [known, isNew] = states.try_emplace(op, State::Open);
      if (isNew)
        path.emplace_back(op, 0);
      return isNew || known->second == State::Done;
    };
    enter(root);
    while (!path.empty()) {
      auto &[op, next] = path.back();
      ArrayRef<Operation *> all = waits[op];
      if (next == all.size()) {
        states[op] = State::Done;
        path.pop_back();
      } else if (Operation *target = all[next++]; !enter(target)) {
        return report(target);
      }
    }
  }
  return success();
}

/// A sender uses the memory of a message again after its value was used last: that has to be a wait
/// for the release.
LogicalResult WaitGraph::verifyReleases() {
  for (auto &[slot, send] : sends) {
    if (!needsRelease(send))
      continue;
    auto isRelease = [&, slot = slot, send = send](Operation *user) {
      auto wait = dyn_cast<AwaitReleaseOp>(user);
      return wait && wait.getSlot() == slot && wait->getBlock() == send->getBlock() &&
             SendOp(send)->isBeforeInBlock(wait);
    };
    if (llvm::none_of(send.getValue().getUsers(), isRelease))
      return send.emitOpError("expects a 'dfg.await_release' of its value and slot after it");
  }
  return success();
}

LogicalResult WaitGraph::verify() {
  for (EntryOp partition : partitions)
    addNodes(partition);
  for (EntryOp partition : partitions)
    if (failed(pairCommits(partition)))
      return failure();
  for (auto &[op, earlier] : waits)
    if (auto receive = dyn_cast<ReceiveOp>(op)) {
      SendOp send = sends.lookup(receive.getSlot());
      if (failed(pairSlot(send, receive)))
        return failure();
      earlier.push_back(send);
    }
  for (EntryOp partition : partitions)
    for (auto wait : partition.getBody().getOps<AwaitReleaseOp>())
      waitForRelease(wait);
  return failure(failed(findCircle()) || failed(verifyReleases()));
}

namespace {
class CheckMessages final : public impl::CheckMessagesBase<CheckMessages> {
public:
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto entry : getOperation().getOps<EntryOp>())
      if (entry.getPartitions() && failed(WaitGraph(partitionsOf(entry, symbols)).verify()))
        signalPassFailure();
  }
};
} // namespace
} // namespace tfc
