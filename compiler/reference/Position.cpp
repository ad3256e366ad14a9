//===- Position.cpp - Tensors made from positions -------------------------===//
//
// Evaluates tensors whose elements depend on their positions.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Registry.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// Positions are rounded in narrow floating-point types; integer types hold
/// them exactly.
static void iota(IotaOp, Call &call) {
  Tensor &result = call.result();
  for (int64_t i = 0; i < result.size(); ++i) {
    if (result.isFloat())
      result.setRounded(i, {double(i), 0}, 0.5);
    else
      result.setInteger(i, i);
  }
}

static void oneHot(OneHotOp op, Call &call) {
  Tensor &result = call.result();
  int64_t depth = result.getShape().back();
  for (int64_t i = 0; i < result.size(); ++i) {
    bool isHot = call.operand().integer(i / depth) == i % depth;
    result.setConstant(i, (isHot ? op.getOnValue() : op.getOffValue()).convertToDouble());
    if (!call.operand().isDetermined(i / depth))
      result.setError(i, kUndetermined);
  }
}

static void eye(EyeOp, Call &call) {
  Tensor &result = call.result();
  int64_t size = result.getShape().back();
  for (int64_t i = 0; i < size; ++i)
    result.setConstant(i * size + i, 1);
}

/// Copies the elements of matrices for which `isKept(column - row)` holds, `otherwise` for the
/// rest.
static void mask(Call &call, double otherwise, llvm::function_ref<bool(int64_t)> isKept) {
  int64_t i = 0;
  for (Positions place(call.result().getShape()); !place.done(); place.next(), ++i) {
    if (isKept((*place).back() - (*place).end()[-2]))
      call.result().copy(i, call.operand(), i);
    else
      call.result().setConstant(i, otherwise);
  }
}

void addPosition(Registry &registry) {
  registry.add<IotaOp>(iota);
  registry.add<OneHotOp>(oneHot);
  registry.add<EyeOp>(eye);
  registry.add<TrilOp>([](TrilOp op, Call &call) {
    mask(call, 0, [&](int64_t off) { return off <= int64_t(op.getDiagonal()); });
  });
  registry.add<TriuOp>([](TriuOp op, Call &call) {
    mask(call, 0, [&](int64_t off) { return off >= int64_t(op.getDiagonal()); });
  });
  registry.add<CausalMaskOp>([](CausalMaskOp, Call &call) {
    mask(call, -INFINITY, [](int64_t off) { return off <= 0; });
  });
}

} // namespace tfc::reference
