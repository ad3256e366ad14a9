//===- Reduction.cpp - Fewer elements out than in -------------------------===//

#include "compiler/reference/Registry.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// The offsets of the elements of `x` that each element of a reduction's result is made of, in
/// row-major order.
static std::vector<std::vector<int64_t>> groupsOf(const Tensor &x, ArrayRef<int64_t> axes,
                                                  int64_t resultCount) {
  std::vector<std::vector<int64_t>> groups(resultCount);
  int64_t offset = 0;
  for (Positions place(x.getShape()); !place.done(); place.next(), ++offset) {
    int64_t group = 0;
    for (int64_t axis = 0; axis < x.getRank(); ++axis)
      if (!llvm::is_contained(axes, axis))
        group = group * x.getShape()[axis] + place[axis];
    groups[group].push_back(offset);
  }
  return groups;
}

/// Registers a reduction; `reduce(x, offsets, result, i)` sets element i of the result.
template <typename Op, typename Reduce>
static void addReductionOp(Registry &registry, Reduce reduce) {
  registry.add<Op>([reduce](Op op, Call &call) {
    const Tensor &x = call.operand();
    Tensor &result = call.result();
    auto groups = groupsOf(x, reducedAxes(op.getAxisAttr(), x.getRank()), result.size());
    for (int64_t i = 0; i < result.size(); ++i)
      reduce(x, groups[i], result, i);
  });
}

static Real sumOf(const Tensor &x, ArrayRef<int64_t> offsets) {
  Sum sum(x.getElementType());
  for (int64_t offset : offsets)
    sum.add(x.real(offset));
  return sum.get();
}

static void reduceSum(const Tensor &x, ArrayRef<int64_t> offsets, Tensor &result, int64_t i) {
  if (x.isFloat())
    return result.setReal(i, sumOf(x, offsets));
  uint64_t sum = 0;
  bool isDetermined = true;
  for (int64_t offset : offsets) {
    sum += uint64_t(x.integer(offset));
    isDetermined &= x.isDetermined(offset);
  }
  result.setInteger(i, int64_t(sum), isDetermined);
}

void addReduction(Registry &registry) { addReductionOp<SumOp>(registry, reduceSum); }

} // namespace tfc::reference
