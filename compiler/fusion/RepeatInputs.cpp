//===- RepeatInputs.cpp - Recomputed inputs of reductions -----------------===//
//
// Decides which elementwise inputs of reductions are computed again, and copies them before groups
// are formed. Grouping can then fuse each copy with its reduction, as its only reader.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/RepeatInputs.h"
#include "compiler/fusion/Grouping.h"
#include "dialects/dfg/Devices.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;

/// More operations than this are not recomputed.
static constexpr unsigned kMaxRepeated = 24;
/// Reading this many tensors costs no more than writing and reading the input once.
static constexpr unsigned kMaxSources = 2;

namespace {

/// The operations that compute the input of one reduction.
class Slice {
public:
  Slice(Operation *reduction, const tfc::fusion::RepeatedOps &repeated)
      : reduction(reduction), repeated(repeated),
        shape(shapeOf(reduction->getOperand(0).getType())) {
    visit(reduction->getOperand(0));
  }

  bool isWorthRepeating() const {
    return !ops.empty() && ops.size() <= kMaxRepeated && sources.size() <= kMaxSources;
  }
  void repeat(DenseSet<Operation *> &inputs);

private:
  void visit(Value value);
  bool isRepeatable(Operation *op) const;

  Operation *reduction;
  const tfc::fusion::RepeatedOps &repeated;
  Shape shape;
  llvm::SetVector<Operation *> ops;
  llvm::SmallSetVector<Value, 4> sources;
};

} // namespace

/// Returns true if both are on one device, as all operations of a partition are.
static bool isSameDevice(Operation *a, Operation *b) {
  return a->getAttr(kDeviceAttr) == b->getAttr(kDeviceAttr);
}

/// Returns the operation that computes a value, or null if that is on another device than its
/// reader: partitions receive the value.
static Operation *producerFor(Operation *reader, Value value) {
  Operation *producer = value.getDefiningOp();
  return producer && isSameDevice(producer, reader) ? producer : nullptr;
}

/// Returns true if the result of `op` needs no memory for its readers: they are elementwise
/// operations and reductions on the same device.
static bool staysInKernels(Operation *op) {
  return llvm::all_of(op->getResult(0).getUsers(), [&](Operation *user) {
    return user->getBlock() == op->getBlock() && isSameDevice(op, user) &&
           (isa<ScalarOpInterface>(user) || user->hasTrait<ReductionRole>());
  });
}

/// Returns true if this is an elementwise operation that is not fused into a kernel of another kind
/// before its result is stored.
bool Slice::isRepeatable(Operation *op) const {
  if (op->getBlock() != reduction->getBlock() || !isa<ScalarOpInterface>(op) ||
      tfc::fusion::Grouping::staysInHost(op) || !staysInKernels(op))
    return false;
  return llvm::none_of(op->getOperands(), [&](Value operand) {
    Operation *producer = producerFor(op, operand);
    return producer && producer->hasTrait<ContractionRole>();
  });
}

void Slice::visit(Value input) {
  SmallVector<Value> work{input};
  while (!work.empty() && ops.size() <= kMaxRepeated) {
    Value value = work.pop_back_val();
    Operation *op = producerFor(reduction, value);
    if (!op || !isRepeatable(op)) {
      if (shapeOf(value.getType()) == shape && !(op && repeated.contains(op)))
        sources.insert(value);
      continue;
    }
    // Smaller tensors are cheap to store and to read.
    if (shapeOf(value.getType()) == shape && ops.insert(op))
      llvm::append_range(work, op->getOperands());
  }
}

void Slice::repeat(DenseSet<Operation *> &inputs) {
  OpBuilder b(reduction);
  IRMapping mapping;
  for (Operation *op : tfc::fusion::inOrder(ops.getArrayRef()))
    inputs.insert(b.clone(*op, mapping));
  reduction->setOperand(0, mapping.lookup(reduction->getOperand(0)));
}

void tfc::fusion::repeatReductionInputs(Block &block, DenseSet<Operation *> &inputs) {
  RepeatedOps repeated(block);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!op.hasTrait<ReductionRole>() || isRowReduction(&op))
      continue;
    Slice slice(&op, repeated);
    if (slice.isWorthRepeating())
      slice.repeat(inputs);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}
