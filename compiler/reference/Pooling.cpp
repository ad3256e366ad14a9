//===- Pooling.cpp - Reductions of windows --------------------------------===//

#include "compiler/reference/Groups.h"
#include "compiler/reference/Pointwise.h"
#include "compiler/reference/Slide.h"
#include "dialects/dfg/PoolingOps.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// Calls `visit` with each element of the result, the offsets of its window's elements and their
/// positions among those of the image.
template <typename Op>
static void
forEachWindow(Op op, Call &call,
              llvm::function_ref<void(int64_t, ArrayRef<int64_t>, ArrayRef<int64_t>)> visit) {
  const Tensor &x = call.operand();
  ArrayRef<int64_t> sizes = x.getShape().drop_front().drop_back();
  SlideOptions options = SlideOptions::of(op);
  if (!options.stride)
    options.stride = op.getSize();
  Slide slide(options, sizes, perAxis(op.getSize(), sizes.size()));
  if (!slide.fits())
    return call.refuse();
  int64_t i = 0;
  for (Positions at(call.result().getShape()); !at.done(); at.next(), ++i) {
    SmallVector<int64_t> offsets, positions;
    for (Positions tap(slide.getTaps()); !tap.done(); tap.next())
      if (auto place = slide.place((*at).drop_front().drop_back(), *tap)) {
        offsets.push_back(offsetAt(x, at[0], *place, {(*at).back()}));
        int64_t position = 0;
        for (auto [index, size] : llvm::zip_equal(*place, sizes))
          position = position * size + index;
        positions.push_back(position);
      }
    visit(i, offsets, positions);
  }
}

static void maxPool(MaxPoolOp op, Call &call) {
  forEachWindow(op, call, [&](int64_t i, ArrayRef<int64_t> offsets, ArrayRef<int64_t>) {
    reduceExtreme(call.operand(), offsets, call.result(), i, 1);
  });
}

static void maxPoolWithIndices(MaxPoolWithIndicesOp op, Call &call) {
  forEachWindow(op, call, [&](int64_t i, ArrayRef<int64_t> offsets, ArrayRef<int64_t> positions) {
    reduceExtreme(call.operand(), offsets, call.result(0), i, 1);
    auto [best, isDetermined] = findExtreme(call.operand(), offsets, 1);
    call.result(1).setInteger(i, offsets.empty() ? -1 : positions[best], isDetermined);
  });
}

static void avgPool(AvgPoolOp op, Call &call) {
  int64_t taps = 1;
  for (int64_t size : perAxis(op.getSize(), call.operand().getRank() - 2))
    taps *= size;
  forEachWindow(op, call, [&](int64_t i, ArrayRef<int64_t> offsets, ArrayRef<int64_t>) {
    reduceMean(call.operand(), offsets, op.getCountPadding() ? taps : offsets.size(), call.result(),
               i);
  });
}

/// x / (bias + alpha * sum) ** beta, with the roundings of each step.
static void localResponseNorm(LocalResponseNormOp op, Call &call) {
  const Tensor &x = call.operand();
  Type type = x.getElementType();
  int64_t channels = x.getShape().back(), radius = op.getRadius();
  double alpha = op.getAlpha().convertToDouble(), bias = op.getBias().convertToDouble(),
         beta = op.getBeta().convertToDouble();
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t c = i % channels;
    Sum sum(type);
    for (int64_t k = std::max<int64_t>(c - radius, 0); k <= std::min(c + radius, channels - 1); ++k)
      sum.add(
          apply(type, 0.5, [](ArrayRef<double> v) { return v[0] * v[0]; }, {x.real(i - c + k)}));
    Real squares = sum.get();
    Real norm = apply(type, 1, [&](ArrayRef<double> v) { return bias + alpha * v[0]; }, {squares});
    // Each may be stored, and an f16 then be infinite.
    if (type.isF16() && std::max(squares.value, norm.value) >= formatOf(type).largest)
      norm.error = kUndetermined;
    Real power = apply(type, 4, [&](ArrayRef<double> v) { return std::pow(v[0], -beta); }, {norm});
    call.result().setRounded(
        i, evaluateAt([](ArrayRef<double> v) { return v[0] * v[1]; }, {x.real(i), power}), 0.5);
  }
}

void addPooling(Registry &registry) {
  registry.add<MaxPoolOp>(maxPool);
  registry.add<MaxPoolWithIndicesOp>(maxPoolWithIndices);
  registry.add<AvgPoolOp>(avgPool);
  registry.add<LocalResponseNormOp>(localResponseNorm);
}

} // namespace tfc::reference
