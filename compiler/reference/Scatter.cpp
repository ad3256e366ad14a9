//===- Scatter.cpp - Rows combined at computed positions ------------------===//
//
// Evaluates `scatter_reduce` one update after the other.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Pointwise.h"
#include "dialects/dfg/ScatterOps.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// The larger or smaller of two, NaN if one is; the error is that of either.
static Real extremeOf(Real x, Real y, bool isMax) {
  double error = std::max(x.error, y.error);
  if (std::isnan(x.value) || std::isnan(y.value))
    return {NAN, error};
  return {isMax ? std::fmax(x.value, y.value) : std::fmin(x.value, y.value), error};
}

/// A product, which is rounded and may be rounded again when it is stored.
static Real productOf(Type type, Real x, Real y) {
  return apply(type, 0.5, [](ArrayRef<double> v) { return v[0] * v[1]; }, {x, y});
}

static void combine(ScatterReduceOp op, Tensor &y, int64_t at, const Tensor &u, int64_t from) {
  ScatterMode mode = op.getMode();
  if (y.isFloat()) {
    Real old = y.real(at), update = u.real(from);
    y.setReal(at, mode == ScatterMode::Mul ? productOf(y.getElementType(), old, update)
                                           : extremeOf(old, update, mode == ScatterMode::Max));
    return;
  }
  Type type = y.getElementType();
  int64_t value = mode == ScatterMode::Mul
                      ? int64_t(uint64_t(y.integer(at)) * uint64_t(u.integer(from)))
                  : mode == ScatterMode::Max ? orderKey(type, std::max(y.key(at), u.key(from)))
                                             : orderKey(type, std::min(y.key(at), u.key(from)));
  y.setInteger(at, value, y.isDetermined(at) && u.isDetermined(from));
}

static void scatterReduce(ScatterReduceOp op, Call &call) {
  const Tensor &x = call.operand(0), &indices = call.operand(1), &updates = call.operand(2);
  call.result() = x;
  int64_t inner = elementCount(x.getShape().drop_front());
  for (int64_t j = 0; j < indices.size(); ++j) {
    int64_t row = indices.integer(j);
    bool isInside = row >= 0 && row < x.getShape()[0];
    if (!isInside && op.getOutside() != Outside::Skip)
      return call.refuse();
    for (int64_t k = 0; k < (isInside ? inner : 0); ++k)
      combine(op, call.result(), row * inner + k, updates, j * inner + k);
  }
  if (!indices.isDetermined())
    call.result().setUndetermined();
}

void addScatter(Registry &registry) { registry.add<ScatterReduceOp>(scatterReduce); }

} // namespace tfc::reference
