//===- Scan.cpp - Reductions that return every step -----------------------===//
//
// Evaluates scans one element after the other, with bounds that cover storing the running value or
// keeping it in a register.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Pointwise.h"
#include "dialects/dfg/ScanOps.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// Calls `visit` with the offsets of the elements of each line along an axis, in order.
static void forEachLine(const Tensor &x, int64_t axis, bool isReverse,
                        llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> starts(x.getShape()), strides = stridesOf(x.getShape());
  starts[axis] = 1;
  for (Positions place(starts); !place.done(); place.next()) {
    int64_t start = 0;
    for (auto [position, stride] : llvm::zip_equal(*place, strides))
      start += position * stride;
    SmallVector<int64_t> line;
    for (int64_t i = 0; i < x.getShape()[axis]; ++i)
      line.push_back(start + i * strides[axis]);
    if (isReverse)
      std::reverse(line.begin(), line.end());
    visit(line);
  }
}

namespace {
/// A running product: each multiplication rounds, and storing may round again.
struct Product {
  explicit Product(Type elementType) : elementType(elementType) {}

  void add(Real factor) { value = rounded(elementType, multiply(value, factor), 0.5); }
  Real get() const { return value; }

  Type elementType;
  Real value = {1, 0};
};

/// The same for a sum, whose partial sums may be stored too.
struct RunningSum {
  explicit RunningSum(Type elementType) : sum(elementType), elementType(elementType) {}

  void add(Real term) {
    sum.add(term);
    const Format &format = formatOf(elementType);
    if (format.ulp != format.computeUlp)
      stored += 0.5 * format.ulp * sum.get().size();
  }
  Real get() const {
    Real result = sum.get();
    result.widen(stored);
    return result;
  }

  Sum sum;
  Type elementType;
  double stored = 0;
};
} // namespace

template <typename Running>
static void scanReals(Call &call, ArrayRef<int64_t> line, bool isExclusive) {
  Running running(call.result().getElementType());
  for (int64_t i : line) {
    if (isExclusive)
      call.result().setReal(i, running.get());
    running.add(call.operand().real(i));
    if (!isExclusive)
      call.result().setReal(i, running.get());
  }
}

static void scanIntegers(Call &call, ArrayRef<int64_t> line, bool isExclusive, uint64_t start,
                         uint64_t (*combine)(uint64_t, uint64_t)) {
  bool isDetermined = true;
  for (int64_t i : line) {
    uint64_t next = combine(start, uint64_t(call.operand().integer(i)));
    bool isNextDetermined = isDetermined && call.operand().isDetermined(i);
    call.result().setInteger(i, int64_t(isExclusive ? start : next),
                             isExclusive ? isDetermined : isNextDetermined);
    start = next;
    isDetermined = isNextDetermined;
  }
}

template <typename Op, typename Running>
static void addScan(Registry &registry, uint64_t start, uint64_t (*combine)(uint64_t, uint64_t)) {
  registry.add<Op>([=](Op op, Call &call) {
    int64_t axis = *normalizeAxis(op.getAxis(), call.operand().getRank());
    forEachLine(call.operand(), axis, op.getReverse(), [&](ArrayRef<int64_t> line) {
      if (call.result().isFloat())
        scanReals<Running>(call, line, op.getExclusive());
      else
        scanIntegers(call, line, op.getExclusive(), start, combine);
    });
  });
}

/// y[i] = factor[i] y[i - 1] + x[i], with the product rounded or not.
static void recurReals(LinearRecurrenceOp op, Call &call, ArrayRef<int64_t> line) {
  Type type = call.result().getElementType();
  Real y;
  for (int64_t i : line) {
    Real factor = call.operand(0).real(i);
    Real product = apply(type, 0.5, [](ArrayRef<double> v) { return v[0] * v[1]; }, {factor, y});
    Real next = apply(type, 0.5, [](ArrayRef<double> v) { return v[0] + v[1]; },
                      {asSummand(product, factor, y), call.operand(1).real(i)});
    call.result().setReal(i, op.getExclusive() ? y : next);
    y = next;
  }
}

static void recurIntegers(LinearRecurrenceOp op, Call &call, ArrayRef<int64_t> line) {
  uint64_t y = 0;
  bool isDetermined = true;
  for (int64_t i : line) {
    const Tensor &factor = call.operand(0), &x = call.operand(1);
    uint64_t next = uint64_t(factor.integer(i)) * y + uint64_t(x.integer(i));
    bool isNextDetermined = isDetermined && factor.isDetermined(i) && x.isDetermined(i);
    call.result().setInteger(i, int64_t(op.getExclusive() ? y : next),
                             op.getExclusive() ? isDetermined : isNextDetermined);
    y = next;
    isDetermined = isNextDetermined;
  }
}

static void linearRecurrence(LinearRecurrenceOp op, Call &call) {
  int64_t axis = *normalizeAxis(op.getAxis(), call.result().getRank());
  forEachLine(call.result(), axis, op.getReverse(), [&](ArrayRef<int64_t> line) {
    if (call.result().isFloat())
      recurReals(op, call, line);
    else
      recurIntegers(op, call, line);
  });
}

/// The extreme element so far, with the error of any candidate.
static void scanExtremes(Call &call, ArrayRef<int64_t> line, bool isExclusive, bool isMax) {
  const Tensor &x = call.operand();
  Tensor &y = call.result();
  Real extreme = {isMax ? -INFINITY : INFINITY, 0};
  for (int64_t i : line) {
    Real next = {x.number(i), std::max(extreme.error, x.error(i))};
    if (std::isnan(extreme.value) ||
        (isMax ? next.value < extreme.value : next.value > extreme.value))
      next.value = extreme.value;
    y.setReal(i, isExclusive ? extreme : next);
    extreme = next;
  }
}

static void scanExtremeIntegers(Call &call, ArrayRef<int64_t> line, bool isExclusive, bool isMax) {
  const Tensor &x = call.operand();
  Type type = x.getElementType();
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = type.isUnsignedInteger(), isDetermined = true;
  int64_t least = isUnsigned ? 0 : llvm::minIntN(width);
  int64_t most = isUnsigned ? int64_t(llvm::maxUIntN(width)) : llvm::maxIntN(width);
  int64_t extreme = orderKey(type, isMax ? least : most);
  for (int64_t i : line) {
    int64_t value = x.key(i);
    int64_t next = isMax ? std::max(extreme, value) : std::min(extreme, value);
    bool isNextDetermined = isDetermined && x.isDetermined(i);
    call.result().setInteger(i, orderKey(type, isExclusive ? extreme : next),
                             isExclusive ? isDetermined : isNextDetermined);
    extreme = next;
    isDetermined = isNextDetermined;
  }
}

template <typename Op> static void addExtremeScan(Registry &registry, bool isMax) {
  registry.add<Op>([=](Op op, Call &call) {
    int64_t axis = *normalizeAxis(op.getAxis(), call.operand().getRank());
    forEachLine(call.operand(), axis, op.getReverse(), [&](ArrayRef<int64_t> line) {
      if (call.result().isFloat())
        scanExtremes(call, line, op.getExclusive(), isMax);
      else
        scanExtremeIntegers(call, line, op.getExclusive(), isMax);
    });
  });
}

/// log(exp(a) + exp(x)), accurate to a few ulp of the larger of the result and 1, because a result
/// near 0 is a difference.
static Real logOfBoth(Type type, Real a, Real x) {
  double larger = std::fmax(a.value, x.value), smaller = std::fmin(a.value, x.value);
  if (std::isnan(a.value) || std::isnan(x.value))
    return {NAN, a.isDetermined() && x.isDetermined() ? 0 : kUndetermined};
  double value = std::isinf(larger) || larger == smaller
                     ? larger + (std::isinf(larger) ? 0 : std::log(2.0))
                     : larger + std::log1p(std::exp(smaller - larger));
  const Format &format = formatOf(type);
  double error = std::max(a.error, x.error);
  if (std::isfinite(value))
    error += 4 * format.ulp * std::max(1.0, std::fabs(larger));
  return {value, error};
}

static void logcumsumexp(LogcumsumexpOp op, Call &call) {
  const Tensor &x = call.operand();
  int64_t axis = *normalizeAxis(op.getAxis(), x.getRank());
  forEachLine(x, axis, op.getReverse(), [&](ArrayRef<int64_t> line) {
    Real last = {-INFINITY, 0};
    for (int64_t i : line) {
      Real next = logOfBoth(x.getElementType(), last, x.real(i));
      call.result().setReal(i, op.getExclusive() ? last : next);
      last = next;
    }
  });
}

void addScan(Registry &registry) {
  addExtremeScan<CummaxOp>(registry, /*isMax=*/true);
  addExtremeScan<CumminOp>(registry, /*isMax=*/false);
  registry.add<LogcumsumexpOp>(logcumsumexp);
  addScan<CumsumOp, RunningSum>(registry, 0, [](uint64_t a, uint64_t b) { return a + b; });
  addScan<CumprodOp, Product>(registry, 1, [](uint64_t a, uint64_t b) { return a * b; });
  registry.add<LinearRecurrenceOp>(linearRecurrence);
}

} // namespace tfc::reference
