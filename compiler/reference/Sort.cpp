//===- Sort.cpp - Elements in order ---------------------------------------===//
//
// Evaluates sorts and selections of the largest elements. If rounding may change an order, the
// bounds cover the elements that it may exchange.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Groups.h"
#include "compiler/reference/Registry.h"
#include "dialects/dfg/SortOps.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// Ascending, NaN last.
static bool isLess(const Tensor &x, int64_t a, int64_t b) {
  if (!x.isFloat())
    return x.key(a) < x.key(b);
  double left = x.number(a), right = x.number(b);
  return std::isnan(right) ? !std::isnan(left) : left < right;
}

/// The positions of the elements of a line in sorted order; stable.
static std::vector<int64_t> orderOf(const Tensor &x, ArrayRef<int64_t> line, bool isDescending) {
  auto places = llvm::seq<int64_t>(0, line.size());
  std::vector<int64_t> order(places.begin(), places.end());
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    return isDescending ? isLess(x, line[b], line[a]) : isLess(x, line[a], line[b]);
  });
  return order;
}

/// Returns true if rounding cannot change the position of an element in its line.
static bool isPlaced(const Tensor &x, ArrayRef<int64_t> line, int64_t place) {
  return llvm::none_of(llvm::seq<int64_t>(0, line.size()), [&](int64_t other) {
    return other != place && mayExchange(x, line[other], line[place]);
  });
}

static std::vector<std::vector<int64_t>> linesOf(const Tensor &x, int64_t axis, int64_t extent) {
  return groupsOf(x, axis, extent ? x.size() / extent : 0);
}

static void argsort(ArgsortOp op, Call &call) {
  const Tensor &x = call.operand();
  int64_t axis = *normalizeAxis(op.getAxis(), x.getRank());
  for (const auto &line : linesOf(x, axis, x.getShape()[axis]))
    for (auto [k, place] : llvm::enumerate(orderOf(x, line, /*isDescending=*/false)))
      call.result().setInteger(line[k], place, isPlaced(x, line, place));
}

/// Sets an element; if rounding may reorder elements, the error includes the others that may be at
/// that position.
static void setSorted(Tensor &result, int64_t at, const Tensor &x, ArrayRef<int64_t> line,
                      int64_t place) {
  result.copy(at, x, line[place]);
  double error = x.error(line[place]);
  for (int64_t other : line)
    if (other != line[place] && mayExchange(x, other, line[place]))
      error = std::max(error, distance(x.number(other), x.number(line[place])) + x.error(other));
  result.setError(at, error);
}

static void sort(SortOp op, Call &call) {
  const Tensor &x = call.operand();
  int64_t axis = *normalizeAxis(op.getAxis(), x.getRank());
  for (const auto &line : linesOf(x, axis, x.getShape()[axis]))
    for (auto [k, place] : llvm::enumerate(orderOf(x, line, op.getDescending())))
      setSorted(call.result(), line[k], x, line, place);
}

/// Calls `visit` for each element of the result of a top-k operation: its offset, its line, and its
/// position in the line.
template <typename Op>
static void forEachTop(Op op, Call &call,
                       llvm::function_ref<void(int64_t, ArrayRef<int64_t>, int64_t)> visit) {
  const Tensor &x = call.operand();
  int64_t axis = *normalizeAxis(op.getAxis(), x.getRank()), extent = x.getShape()[axis];
  int64_t count = call.size(op.getK().getExprs()[0]);
  if (count < 0 || count > extent)
    return call.refuse();
  auto from = linesOf(x, axis, extent), to = linesOf(call.result(), axis, count);
  for (auto [line, places] : llvm::zip(from, to)) {
    std::vector<int64_t> order = orderOf(x, line, op.getLargest());
    for (int64_t k = 0; k < count; ++k)
      visit(places[k], line, order[k]);
  }
}

static void argTopK(ArgTopKOp op, Call &call) {
  const Tensor &x = call.operand();
  forEachTop(op, call, [&](int64_t at, ArrayRef<int64_t> line, int64_t place) {
    call.result().setInteger(at, place, isPlaced(x, line, place));
  });
}

static void topK(TopKOp op, Call &call) {
  const Tensor &x = call.operand();
  forEachTop(op, call, [&](int64_t at, ArrayRef<int64_t> line, int64_t place) {
    setSorted(call.result(0), at, x, line, place);
    call.result(1).setInteger(at, place, isPlaced(x, line, place));
  });
}

void addSort(Registry &registry) {
  registry.add<ArgsortOp>(argsort);
  registry.add<ArgTopKOp>(argTopK);
  registry.add<SortOp>(sort);
  registry.add<TopKOp>(topK);
}

} // namespace tfc::reference
