//===- Gather.cpp - Elements at computed positions ------------------------===//
//
// Evaluates reads and updates at computed positions. The bounds of an updated element allow any
// order of its updates.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Registry.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

static bool isInside(int64_t index, int64_t size) { return index >= 0 && index < size; }

/// The result has the axes of the indices in place of axis `axis` of `x`: with i, j and k
/// flattened, result [i, j, k] is x[i, indices[j], k].
static void gather(GatherOp op, Call &call) {
  const Tensor &x = call.operand(0), &indices = call.operand(1);
  int64_t axis = *normalizeAxis(op.getAxis(), x.getRank()), extent = x.getShape()[axis];
  int64_t outer = elementCount(x.getShape().take_front(axis));
  int64_t inner = elementCount(x.getShape().drop_front(axis + 1));
  bool skips = op.getOutside() == Outside::Skip;
  for (int64_t j = 0; j < indices.size(); ++j) {
    int64_t index = indices.integer(j);
    if (!skips && !isInside(index, extent))
      return call.refuse();
    for (int64_t i = 0; i < outer; ++i)
      for (int64_t k = 0; k < inner; ++k) {
        int64_t at = (i * indices.size() + j) * inner + k;
        if (isInside(index, extent))
          call.result().copy(at, x, (i * extent + index) * inner + k);
        if (!indices.isDetermined(j))
          call.result().setError(at, kUndetermined);
      }
  }
}

static void checkIndices(CheckIndicesOp op, Call &call) {
  const Tensor &indices = call.operand(0);
  int64_t size = call.size(op.getSize());
  for (int64_t j = 0; j < indices.size(); ++j)
    if (!isInside(indices.integer(j), size))
      return call.refuse();
  call.result() = indices;
}

static void gatherNd(GatherNdOp, Call &call) {
  const Tensor &x = call.operand(0), &indices = call.operand(1);
  int64_t length = indices.getShape().back();
  int64_t inner = elementCount(x.getShape().drop_front(length));
  int64_t count = elementCount(indices.getShape().drop_back());
  for (int64_t j = 0; j < count; ++j) {
    int64_t row = 0;
    bool isDetermined = true;
    for (int64_t axis = 0; axis < length; ++axis) {
      int64_t index = indices.integer(j * length + axis), extent = x.getShape()[axis];
      if (!isInside(index, extent))
        return call.refuse();
      row = row * extent + index;
      isDetermined &= indices.isDetermined(j * length + axis);
    }
    for (int64_t k = 0; k < inner; ++k) {
      call.result().copy(j * inner + k, x, row * inner + k);
      if (!isDetermined)
        call.result().setError(j * inner + k, kUndetermined);
    }
  }
}

static void takeAlongAxis(TakeAlongAxisOp op, Call &call) {
  const Tensor &x = call.operand(0), &indices = call.operand(1);
  int64_t axis = *normalizeAxis(op.getAxis(), x.getRank());
  SmallVector<int64_t> strides = stridesOf(x.getShape());
  int64_t i = 0;
  for (Positions place(indices.getShape()); !place.done(); place.next(), ++i) {
    int64_t index = indices.integer(i), offset = 0;
    if (!isInside(index, x.getShape()[axis]))
      return call.refuse();
    for (int64_t other = 0; other < x.getRank(); ++other)
      offset += strides[other] * (other == axis ? index : place[other]);
    call.result().copy(i, x, offset);
    if (!indices.isDetermined(i))
      call.result().setError(i, kUndetermined);
  }
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// Calls `visit` with the offsets in the result and in the updates of each updated element, in the
/// order of the updates.
template <typename Op>
static void forEachUpdate(Op op, Call &call, llvm::function_ref<void(int64_t, int64_t)> visit) {
  const Tensor &x = call.operand(0), &indices = call.operand(1);
  int64_t inner = elementCount(x.getShape().drop_front());
  for (int64_t j = 0; j < indices.size(); ++j) {
    int64_t row = indices.integer(j);
    if (isInside(row, x.getShape()[0])) {
      for (int64_t k = 0; k < inner; ++k)
        visit(row * inner + k, j * inner + k);
    } else if (op.getOutside() != Outside::Skip) {
      return call.refuse();
    }
  }
  if (!indices.isDetermined())
    call.result().setUndetermined();
}

static void scatterUpdate(ScatterUpdateOp op, Call &call) {
  call.result() = call.operand(0);
  forEachUpdate(op, call, [&](int64_t at, int64_t update) {
    call.result().copy(at, call.operand(2), update);
  });
}

/// The sum of an element's updates: in any order, with partial sums possibly stored.
static Real sumOfTerms(Type type, ArrayRef<Real> terms) {
  Sum sum(type);
  double absolute = 0;
  for (Real term : terms) {
    sum.add(term);
    absolute += term.size();
  }
  Real result = sum.get();
  const Format &format = formatOf(type);
  if (format.ulp != format.computeUlp && std::isfinite(absolute))
    result.widen(0.5 * format.ulp * double(terms.size()) * absolute);
  return result;
}

static void scatterAdd(ScatterAddOp op, Call &call) {
  const Tensor &x = call.operand(0), &updates = call.operand(2);
  Tensor &result = call.result();
  result = x;
  if (!x.isFloat())
    return forEachUpdate(op, call, [&](int64_t at, int64_t update) {
      result.setInteger(at,
                        int64_t(uint64_t(result.integer(at)) + uint64_t(updates.integer(update))),
                        result.isDetermined(at) && updates.isDetermined(update));
    });
  std::vector<SmallVector<Real>> terms(x.size());
  forEachUpdate(op, call,
                [&](int64_t at, int64_t update) { terms[at].push_back(updates.real(update)); });
  for (int64_t i = 0; i < x.size(); ++i)
    if (!terms[i].empty()) {
      terms[i].push_back(x.real(i));
      Real sum = sumOfTerms(x.getElementType(), terms[i]);
      result.setReal(i, result.isDetermined(i) ? sum : Real{sum.value, kUndetermined});
    }
}

//===----------------------------------------------------------------------===//
// Coalesce
//===----------------------------------------------------------------------===//

/// The distinct indices in ascending order, each with the sum of its rows; then -1 and zeros.
static void coalesce(CoalesceOp, Call &call) {
  const Tensor &indices = call.operand(0), &rows = call.operand(1);
  std::map<int64_t, SmallVector<int64_t>> places;
  for (int64_t j = 0; j < indices.size(); ++j)
    places[indices.integer(j)].push_back(j);
  int64_t inner = elementCount(rows.getShape().drop_front()), next = 0;
  for (const auto &[index, members] : places) {
    call.result(0).setInteger(next, index);
    for (int64_t k = 0; k < inner; ++k) {
      uint64_t whole = 0;
      SmallVector<Real> terms;
      bool isDetermined = true;
      for (int64_t j : members) {
        isDetermined &= rows.isDetermined(j * inner + k);
        if (rows.isFloat())
          terms.push_back(rows.real(j * inner + k));
        else
          whole += uint64_t(rows.integer(j * inner + k));
      }
      if (rows.isFloat())
        call.result(1).setReal(next * inner + k, sumOfTerms(rows.getElementType(), terms));
      else
        call.result(1).setInteger(next * inner + k, int64_t(whole), isDetermined);
    }
    ++next;
  }
  for (; next < indices.size(); ++next)
    call.result(0).setInteger(next, -1);
  if (!indices.isDetermined())
    for (unsigned n : {0, 1})
      call.result(n).setUndetermined();
}

void addGather(Registry &registry) {
  registry.add<GatherOp>(gather);
  registry.add<GatherNdOp>(gatherNd);
  registry.add<CheckIndicesOp>(checkIndices);
  registry.add<TakeAlongAxisOp>(takeAlongAxis);
  registry.add<ScatterAddOp>(scatterAdd);
  registry.add<ScatterUpdateOp>(scatterUpdate);
  registry.add<CoalesceOp>(coalesce);
}

} // namespace tfc::reference
