//===- Pooling.cpp - Reductions of windows --------------------------------===//
//
// Evaluates pooling and local response normalization by visiting the elements of each window.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Groups.h"
#include "compiler/reference/Pointwise.h"
#include "compiler/reference/Slide.h"
#include "dialects/dfg/PoolingOps.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// A window: the offsets of its elements, their positions in the image, and the number of elements
/// including padding.
struct PoolingWindow {
  SmallVector<int64_t> offsets, positions;
  int64_t padded = 0;
};

/// Calls `visit` with each element of the result and its window.
template <typename Op>
static void forEachWindow(Op op, Call &call,
                          llvm::function_ref<void(int64_t, const PoolingWindow &)> visit) {
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
    PoolingWindow window;
    ArrayRef<int64_t> windowAt = (*at).drop_front().drop_back();
    window.padded = slide.countPadded(windowAt);
    for (Positions tap(slide.getTaps()); !tap.done(); tap.next())
      if (auto place = slide.place(windowAt, *tap)) {
        window.offsets.push_back(offsetAt(x, at[0], *place, {(*at).back()}));
        int64_t position = 0;
        for (auto [index, size] : llvm::zip_equal(*place, sizes))
          position = position * size + index;
        window.positions.push_back(position);
      }
    visit(i, window);
  }
}

static void maxPool(MaxPoolOp op, Call &call) {
  forEachWindow(op, call, [&](int64_t i, const PoolingWindow &window) {
    reduceExtreme(call.operand(), window.offsets, call.result(), i, 1);
  });
}

static void maxPoolWithIndices(MaxPoolWithIndicesOp op, Call &call) {
  forEachWindow(op, call, [&](int64_t i, const PoolingWindow &window) {
    reduceExtreme(call.operand(), window.offsets, call.result(0), i, 1);
    auto [best, isDetermined] = findExtreme(call.operand(), window.offsets, 1);
    call.result(1).setInteger(i, window.offsets.empty() ? -1 : window.positions[best],
                              isDetermined);
  });
}

static void avgPool(AvgPoolOp op, Call &call) {
  forEachWindow(op, call, [&](int64_t i, const PoolingWindow &window) {
    int64_t count = op.getCountPadding() ? window.padded : window.offsets.size();
    reduceMean(call.operand(), window.offsets, count, call.result(), i);
  });
}

/// x / (bias + alpha * sum) ** beta, with the roundings of each step, in f32 for f16.
static void localResponseNorm(LocalResponseNormOp op, Call &call) {
  const Tensor &x = call.operand();
  Type own = x.getElementType();
  Type type = own.isF64() ? own : Type(Float32Type::get(own.getContext()));
  int64_t channels = x.getShape().back(), radius = std::min<int64_t>(op.getRadius(), channels);
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
