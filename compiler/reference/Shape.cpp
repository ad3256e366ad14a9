//===- Shape.cpp - The same elements in another shape ---------------------===//
//
// Evaluates sizes and changes of shape.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Registry.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

static void broadcast(BroadcastOp, Call &call) {
  int64_t i = 0;
  for (Positions place(call.result().getShape()); !place.done(); place.next(), ++i)
    call.result().copy(i, call.operand(), broadcastOffset(*place, call.operand().getShape()));
}

static void reshape(ReshapeOp, Call &call) {
  SmallVector<int64_t> shape(call.result().getShape());
  call.result() = call.operand().reshaped(shape);
}

/// Axis i of the result is axis `permutation[i]` of the operand: reversed by default.
static void transpose(TransposeOp op, Call &call) {
  const Tensor &x = call.operand();
  SmallVector<int64_t> strides = stridesOf(x.getShape());
  int64_t i = 0;
  for (Positions place(call.result().getShape()); !place.done(); place.next(), ++i) {
    int64_t offset = 0;
    for (int64_t axis = 0; axis < x.getRank(); ++axis) {
      int64_t from = x.getRank() - 1 - axis;
      if (op.getPermutation())
        from = *normalizeAxis((*op.getPermutation())[axis], x.getRank());
      offset += place[axis] * strides[from];
    }
    call.result().copy(i, x, offset);
  }
}

void addShape(Registry &registry) {
  registry.add<SizeOp>([](SizeOp op, Call &call) {
    call.result().setInteger(0, call.size(op.getValue().getExprs()[0]));
  });
  registry.add<BroadcastOp>(broadcast);
  registry.add<ReshapeOp>(reshape);
  registry.add<TransposeOp>(transpose);
}

} // namespace tfc::reference
