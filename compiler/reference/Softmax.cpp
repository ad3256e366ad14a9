//===- Softmax.cpp - Normalised exponentials and their losses -------------===//
//
// Evaluates softmax and its losses as wholes: errors that all elements of a row share cancel, which
// their parts would not show.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Groups.h"
#include "compiler/reference/Pointwise.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

using Reals = ArrayRef<double>;

ExponentialRow exponentiate(const Tensor &x, ArrayRef<int64_t> offsets, bool shiftsFinite) {
  Type type = x.getElementType();
  double largest = -INFINITY;
  for (int64_t offset : offsets) {
    double value = x.real(offset).value;
    largest = std::isnan(value) || value > largest ? value : largest;
    if (std::isnan(largest))
      break;
  }
  if (shiftsFinite && std::isinf(largest))
    largest = 0;
  ExponentialRow row{largest, {}, {}, {}};
  Sum total(type);
  for (int64_t offset : offsets) {
    auto shift = [&](Reals v) { return v[0] - largest; };
    auto exp = [](Reals v) { return std::exp(v[0]); };
    row.shifted.push_back(apply(type, 0.5, shift, x.real(offset)));
    row.exponentials.push_back(apply(type, 2, exp, row.shifted.back()));
    total.add(row.exponentials.back());
  }
  row.total = total.get();
  return row;
}

static Real logarithm(Type type, Real x) {
  return apply(type, 2, [](Reals v) { return std::log(v[0]); }, x, {0.0});
}

static Real difference(Type type, Real x, Real y) {
  return apply(type, 0.5, [](Reals v) { return v[0] - v[1]; }, {x, y});
}

Real logOfSum(const Tensor &x, ArrayRef<int64_t> offsets) {
  Type type = x.getElementType();
  ExponentialRow row = exponentiate(x, offsets, /*shiftsFinite=*/true);
  return difference(type, logarithm(type, row.total), {-row.largest, 0});
}

/// The fraction of the total of an element. Errors common to a row cancel, so the interval is that
/// of one element against all others.
static Real shareOf(Type type, const ExponentialRow &row, size_t k) {
  Real part = row.exponentials[k];
  double value = part.value / row.total.value, low = 0, high = 0;
  if (!row.total.isBounded())
    return apply(type, 0.5, [](Reals v) { return v[0] / v[1]; }, {part, row.total});
  for (auto [j, other] : llvm::enumerate(row.exponentials)) {
    low += j == k ? 0 : other.low();
    high += j == k ? 0 : other.high();
  }
  double least = std::max(part.low(), 0.0), most = part.high();
  least = least == 0 ? 0 : least / (least + high);
  most = most == 0 ? 0 : most / (most + low);
  Real share{value, std::max(value - least, most - value), least, most};
  share = rounded(type, share, 0.5 * double(row.exponentials.size() + 3));
  share.most = std::min(share.most, 1.0); // no sum is smaller than a term
  return share;
}

/// Registers an operation on rows along an axis: `finish(row, k)` is the result for element k.
template <typename Op, typename Finish> static void addRows(Registry &registry, Finish finish) {
  registry.add<Op>([=](Op op, Call &call) {
    const Tensor &x = call.operand();
    int64_t axis = *normalizeAxis(op.getAxis(), x.getRank());
    int64_t extent = x.getShape()[axis];
    for (const auto &offsets : groupsOf(x, axis, extent ? x.size() / extent : 0)) {
      ExponentialRow row = exponentiate(x, offsets);
      for (auto [k, offset] : llvm::enumerate(offsets))
        call.result().setReal(offset, finish(x.getElementType(), row, k));
    }
  });
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

static std::vector<std::vector<int64_t>> lastAxisOf(const Tensor &x, int64_t rows) {
  return groupsOf(x, x.getRank() - 1, rows);
}

/// A probability of 0 adds 0 for any logit.
static void softmaxCrossEntropy(SoftmaxCrossEntropyOp, Call &call) {
  const Tensor &x = call.operand(0), &p = call.operand(1);
  Type type = x.getElementType();
  for (auto [i, offsets] : llvm::enumerate(lastAxisOf(x, call.result().size()))) {
    ExponentialRow row = exponentiate(x, offsets);
    Real logTotal = logarithm(type, row.total);
    Sum loss(type);
    for (auto [k, offset] : llvm::enumerate(offsets)) {
      Real weight = p.real(offset), logY = difference(type, row.shifted[k], logTotal);
      auto product = [](Reals v) { return v[0] == 0 ? 0 : -(v[0] * v[1]); };
      Real term = apply(type, 0.5, product, {weight, asOperand(type, logY)}, {0.0});
      loss.add(asOperand(type, term));
    }
    Real total = loss.get();
    if (total.value == 0 &&
        total.isExact()) // its sign is that of the terms, or of their negated sum
      total.error = kEitherZero;
    call.result().setReal(i, total);
  }
}

static void sparseSoftmaxCrossEntropy(SparseSoftmaxCrossEntropyOp, Call &call) {
  const Tensor &x = call.operand(0), &labels = call.operand(1);
  Type type = x.getElementType();
  for (auto [i, offsets] : llvm::enumerate(lastAxisOf(x, call.result().size()))) {
    int64_t label = labels.integer(i);
    if (label < 0 || label >= int64_t(offsets.size()))
      return call.refuse();
    ExponentialRow row = exponentiate(x, offsets);
    Real loss = difference(type, logarithm(type, row.total), row.shifted[label]);
    if (!labels.isDetermined(i))
      loss.error = kUndetermined;
    call.result().setReal(i, loss);
  }
}

void addSoftmax(Registry &registry) {
  addRows<SoftmaxOp>(registry, shareOf);
  addRows<LogSoftmaxOp>(registry, [](Type type, const ExponentialRow &row, size_t k) {
    return difference(type, row.shifted[k], logarithm(type, row.total));
  });
  registry.add<SoftmaxCrossEntropyOp>(softmaxCrossEntropy);
  registry.add<SparseSoftmaxCrossEntropyOp>(sparseSoftmaxCrossEntropy);
}

} // namespace tfc::reference
