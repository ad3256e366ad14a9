//===- RepeatMasks.cpp - Masks that follow from positions -----------------===//
//
// Runs while attention kernels are formed. A mask is a kernel of its own otherwise, because several
// layers read it.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/RepeatMasks.h"
#include "dialects/dfg/Dfg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::fusion;

namespace {

/// Copies operations to the place of a builder, each once.
class Copier {
public:
  explicit Copier(Operation *place) : b(place) {}

  Value copyOf(Value value);
  /// The operations copied, and their copies.
  llvm::MapVector<Operation *, Operation *> copies;

private:
  OpBuilder b;
};

} // namespace

/// Returns the copy of a value, after those of all that it is computed from.
Value Copier::copyOf(Value value) {
  Operation *op = value.getDefiningOp();
  Operation *copy = copies.lookup(op);
  if (!copy) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, copyOf(operand));
    copies[op] = copy = b.clone(*op, mapping);
  }
  return copy->getResult(cast<OpResult>(value).getResultNumber());
}

/// Returns true if a value is computed from positions and scalar constants alone.
static bool isMadeOfPositions(Value value, Block *block, const RepeatedOps &repeated) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block || !isPure(op) ||
      !(repeated.contains(op) || isa<ScalarOpInterface>(op)))
    return false;
  if (isa<ConstantOp>(op))
    return cast<RankedTensorType>(value.getType()).getRank() == 0;
  if (op->getNumOperands() == 0)
    return isa<IotaOp>(op);
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isMadeOfPositions(operand, block, repeated); });
}

bool tfc::fusion::isMaskOfPositions(Value value, const RepeatedOps &repeated) {
  Operation *op = value.getDefiningOp();
  return op && isa<ScalarOpInterface>(op) && getElementTypeOrSelf(value.getType()).isInteger(1) &&
         isMadeOfPositions(value, op->getBlock(), repeated);
}

void tfc::fusion::repeatMasks(const RepeatedOps &repeated, SmallVectorImpl<Operation *> &members) {
  SmallVector<Operation *> readers = inOrder(members);
  Copier copier(readers.front());
  for (Operation *reader : readers)
    for (OpOperand &operand : reader->getOpOperands()) {
      if (isMaskOfPositions(operand.get(), repeated) &&
          !llvm::is_contained(members, operand.get().getDefiningOp()))
        operand.set(copier.copyOf(operand.get()));
    }
  for (auto [op, copy] : copier.copies)
    if (isa<ScalarOpInterface>(copy))
      members.push_back(copy);
}
