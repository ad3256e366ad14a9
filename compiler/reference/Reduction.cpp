//===- Reduction.cpp - Reductions over axes -------------------------------===//
//
// Evaluates reductions, with bounds that hold for any order in which elements are combined.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Groups.h"
#include "compiler/reference/Pointwise.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

std::vector<std::vector<int64_t>> groupsOf(const Tensor &x, ArrayRef<int64_t> axes,
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

void reduceMean(const Tensor &x, ArrayRef<int64_t> offsets, int64_t number, Tensor &result,
                int64_t i) {
  Type type = x.getElementType(), wide = type;
  if (!type.isF64())
    wide = Float32Type::get(type.getContext());
  Sum sum(wide);
  for (int64_t offset : offsets)
    sum.add(x.real(offset));
  Real count = rounded(wide, {double(number), 0}, 0.5);
  Real mean = apply(wide, 0.5, [](ArrayRef<double> v) { return v[0] / v[1]; }, {sum.get(), count});
  result.setRounded(i, mean, 0.5);
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

/// The largest of some numbers, with the interval of the numbers that may be the largest; NaN if
/// one is.
static Real largest(const Tensor &x, ArrayRef<int64_t> offsets, double sign) {
  double value = -INFINITY, low = -INFINITY, high = -INFINITY;
  bool isDetermined = true, mayBeEitherZero = false;
  for (int64_t offset : offsets) {
    Real element = x.real(offset);
    if (std::isnan(element.value))
      return {NAN, element.error};
    mayBeEitherZero |= mayBeNegativeZero(element);
    double signedValue = sign * element.value;
    value = std::max(value, signedValue);
    isDetermined &= element.isDetermined();
    if (element.isDetermined()) {
      low = std::max(low, sign > 0 ? element.low() : -element.high());
      high = std::max(high, sign > 0 ? element.high() : -element.low());
    }
  }
  if (!isDetermined)
    return {sign * value, kUndetermined};
  double error = std::max(distance(value, low), distance(value, high));
  if (mayBeEitherZero && value == 0)
    error = std::max(error, kEitherZero);
  return {sign * value, error, sign > 0 ? low : -high, sign > 0 ? high : -low};
}

void reduceExtreme(const Tensor &x, ArrayRef<int64_t> offsets, Tensor &result, int64_t i,
                   int sign) {
  if (x.isFloat())
    return result.setReal(i, largest(x, offsets, sign));
  Type type = x.getElementType();
  unsigned bits = type.getIntOrFloatBitWidth();
  bool isUnsigned = type.isUnsignedInteger();
  int64_t least = isUnsigned ? 0 : llvm::minIntN(bits);
  int64_t most = isUnsigned ? int64_t(llvm::maxUIntN(bits)) : llvm::maxIntN(bits);
  int64_t value = orderKey(type, sign > 0 ? least : most);
  bool isDetermined = true;
  for (int64_t offset : offsets) {
    int64_t element = x.key(offset);
    value = sign > 0 ? std::max(value, element) : std::min(value, element);
    isDetermined &= x.isDetermined(offset);
  }
  result.setInteger(i, orderKey(type, value), isDetermined);
}

/// Returns true if element `a` precedes `b` in the order of `sign`; NaN comes first.
static bool isBefore(const Tensor &x, int64_t a, int64_t b, int sign) {
  if (!x.isFloat())
    return sign > 0 ? x.key(a) > x.key(b) : x.key(a) < x.key(b);
  double left = x.real(a).value, right = x.real(b).value;
  if (std::isnan(left) || std::isnan(right))
    return std::isnan(left) && !std::isnan(right);
  return sign * left > sign * right;
}

bool mayExchange(const Tensor &x, int64_t a, int64_t b) {
  if (!x.isFloat())
    return !x.isDetermined(a) || !x.isDetermined(b);
  Real left = x.real(a), right = x.real(b);
  if (left.isExact() && right.isExact())
    return false;
  if (!left.isDetermined() || !right.isDetermined())
    return true;
  return left.low() <= right.high() && right.low() <= left.high();
}

std::pair<int64_t, bool> findExtreme(const Tensor &x, ArrayRef<int64_t> offsets, int sign) {
  int64_t best = 0;
  for (size_t k = 1; k < offsets.size(); ++k)
    if (isBefore(x, offsets[k], offsets[best], sign))
      best = k;
  bool isDetermined = llvm::none_of(offsets, [&](int64_t offset) {
    return offset != offsets[best] && mayExchange(x, offset, offsets[best]);
  });
  return {best, isDetermined};
}

/// The position of the extreme element along an axis.
template <typename Op> static void argExtreme(Op op, Call &call, int sign) {
  const Tensor &x = call.operand();
  auto groups = groupsOf(x, *normalizeAxis(op.getAxis(), x.getRank()), call.result().size());
  for (auto [i, offsets] : llvm::enumerate(groups)) {
    auto [best, isDetermined] = findExtreme(x, offsets, sign);
    call.result().setInteger(i, best, isDetermined);
  }
}

static void maxWithIndex(MaxWithIndexOp op, Call &call) {
  const Tensor &x = call.operand();
  auto groups = groupsOf(x, reducedAxes(op.getAxisAttr(), x.getRank()), call.result(0).size());
  for (auto [i, offsets] : llvm::enumerate(groups)) {
    reduceExtreme(x, offsets, call.result(0), i, 1);
    auto [best, isDetermined] = findExtreme(x, offsets, 1);
    call.result(1).setInteger(i, best, isDetermined);
  }
}

//===----------------------------------------------------------------------===//
// Products, logic
//===----------------------------------------------------------------------===//

static uint64_t multiplyIntegers(const Tensor &x, ArrayRef<int64_t> offsets) {
  uint64_t product = 1;
  for (int64_t offset : offsets)
    product *= uint64_t(x.integer(offset));
  return product;
}

/// In another order intermediate products may overflow or underflow.
static void reduceProd(const Tensor &x, ArrayRef<int64_t> offsets, Tensor &result, int64_t i) {
  bool isDetermined = llvm::all_of(offsets, [&](int64_t offset) { return x.isDetermined(offset); });
  if (!x.isFloat())
    return result.setInteger(i, int64_t(multiplyIntegers(x, offsets)), isDetermined);
  Type type = x.getElementType(), wide = type;
  if (!type.isF64())
    wide = Float32Type::get(type.getContext());
  Real product = {1, 0};
  double most = 1, least = 1;
  for (int64_t offset : offsets) {
    Real factor = x.real(offset);
    product = apply(wide, 0.5, [](ArrayRef<double> v) { return v[0] * v[1]; }, {product, factor});
    most *= std::max(factor.size(), 1.0);
    least *= std::min(std::fabs(factor.value), 1.0);
  }
  const Format &format = formatOf(wide);
  if (std::isfinite(product.value) && !(most < 0.5 * format.largest))
    product.error = kUndetermined;
  else if (least < 2 * format.smallest && product.value != 0)
    product = {product.value, product.error + std::fabs(product.value)};
  result.setRounded(i, product, 0.5);
}

/// A single determined element may decide the result, even if others are undetermined.
static void reduceLogic(const Tensor &x, ArrayRef<int64_t> offsets, Tensor &result, int64_t i,
                        bool deciding) {
  bool isDetermined = true, isFound = false;
  for (int64_t offset : offsets) {
    isFound |= x.isDetermined(offset) && bool(x.integer(offset)) == deciding;
    isDetermined &= x.isDetermined(offset);
  }
  result.setInteger(i, isFound ? deciding : !deciding, isFound || isDetermined);
}

/// log(sum(exp(x))) as the largest element plus the logarithm of a sum of at least 1.
static void reduceLogsumexp(const Tensor &x, ArrayRef<int64_t> offsets, Tensor &result, int64_t i) {
  result.setReal(i, logOfSum(x, offsets));
}

template <int Sign>
static void reduceMost(const Tensor &x, ArrayRef<int64_t> offsets, Tensor &result, int64_t i) {
  reduceExtreme(x, offsets, result, i, Sign);
}

void addReduction(Registry &registry) {
  addReductionOp<SumOp>(registry, reduceSum);
  addReductionOp<MeanOp>(registry,
                         [](const Tensor &x, ArrayRef<int64_t> offsets, Tensor &result, int64_t i) {
                           reduceMean(x, offsets, offsets.size(), result, i);
                         });
  addReductionOp<MaxOp>(registry, reduceMost<1>);
  addReductionOp<MinOp>(registry, reduceMost<-1>);
  addReductionOp<ProdOp>(registry, reduceProd);
  addReductionOp<LogsumexpOp>(registry, reduceLogsumexp);
  addReductionOp<AllOp>(registry, [](auto &...args) { reduceLogic(args..., false); });
  addReductionOp<AnyOp>(registry, [](auto &...args) { reduceLogic(args..., true); });
  registry.add<MaxWithIndexOp>(maxWithIndex);
  registry.add<ArgmaxOp>([](ArgmaxOp op, Call &call) { argExtreme(op, call, 1); });
  registry.add<ArgminOp>([](ArgminOp op, Call &call) { argExtreme(op, call, -1); });
}

} // namespace tfc::reference
