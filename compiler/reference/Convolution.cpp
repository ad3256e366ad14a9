//===- Convolution.cpp - Sums of products over windows --------------------===//
//
// Evaluates convolutions by their definition, and not by the product into which the compiler
// decomposes them.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Slide.h"
#include "dialects/dfg/ConvolutionOps.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

namespace {
/// Adds up products of elements of both operands into an element of the result.
class Products {
public:
  explicit Products(Call &call) : call(call), sum(call.result().getElementType()) {}

  void add(int64_t lhs, int64_t rhs) {
    const Tensor &a = call.operand(0), &b = call.operand(1);
    if (call.result().isFloat())
      return sum.addProduct(a.real(lhs), b.real(rhs));
    total += uint64_t(a.integer(lhs)) * uint64_t(b.integer(rhs));
    isDetermined &= a.isDetermined(lhs) && b.isDetermined(rhs);
  }

  /// Adds padding times element `rhs`: zero, unless the product is computed and the element is not
  /// finite, or may be stored as an infinity.
  void addPadding(int64_t rhs) {
    const Tensor &b = call.operand(1);
    meetsInfinity |= b.isFloat() && !b.real(rhs).isBounded();
  }

  void store(int64_t i) {
    if (meetsInfinity)
      call.result().setReal(i, {sum.get().value, kUndetermined});
    else if (call.result().isFloat())
      call.result().setReal(i, sum.get());
    else
      call.result().setInteger(i, int64_t(total), isDetermined);
  }

private:
  Call &call;
  Sum sum;
  uint64_t total = 0;
  bool isDetermined = true, meetsInfinity = false;
};
} // namespace

static ArrayRef<int64_t> inner(ArrayRef<int64_t> shape) { return shape.drop_front().drop_back(); }

/// The offset of an element of a kernel.
static int64_t kernelAt(const Tensor &kernel, ArrayRef<int64_t> tap, int64_t channel,
                        int64_t feature) {
  int64_t offset = 0;
  for (auto [position, size] : llvm::zip(tap, kernel.getShape()))
    offset = offset * size + position;
  return (offset * kernel.getShape().end()[-2] + channel) * kernel.getShape().back() + feature;
}

static void convolution(ConvolutionOp op, Call &call) {
  const Tensor &x = call.operand(0), &kernel = call.operand(1);
  ArrayRef<int64_t> taps = kernel.getShape().drop_back(2);
  Slide slide(SlideOptions::of(op), inner(x.getShape()), taps);
  if (!slide.fits())
    return call.refuse();
  int64_t width = kernel.getShape().end()[-2];
  int64_t perGroup = kernel.getShape().back() / int64_t(op.getGroups()), i = 0;
  for (Positions at(call.result().getShape()); !at.done(); at.next(), ++i) {
    int64_t feature = (*at).back(), first = feature / perGroup * width;
    Products products(call);
    for (Positions tap(taps); !tap.done(); tap.next()) {
      auto place = slide.place(inner(*at), *tap);
      for (int64_t c = 0; c < width; ++c)
        if (int64_t weight = kernelAt(kernel, *tap, c, feature); place)
          products.add(offsetAt(x, at[0], *place, {first + c}), weight);
        else
          products.addPadding(weight);
    }
    products.store(i);
  }
}

static void convolutionTranspose(ConvolutionTransposeOp op, Call &call) {
  const Tensor &x = call.operand(0), &kernel = call.operand(1);
  ArrayRef<int64_t> taps = kernel.getShape().drop_back(2);
  Slide slide(SlideOptions::of(op), inner(call.result().getShape()), taps);
  int64_t width = kernel.getShape().end()[-2];
  int64_t perGroup = kernel.getShape().back() / int64_t(op.getGroups()), i = 0;
  for (Positions at(call.result().getShape()); !at.done(); at.next(), ++i) {
    int64_t channel = (*at).back(), first = channel / width * perGroup;
    Products products(call);
    for (Positions tap(taps); !tap.done(); tap.next()) {
      auto window = slide.window(inner(*at), *tap);
      for (int64_t f = first; f < first + perGroup; ++f)
        if (int64_t weight = kernelAt(kernel, *tap, channel % width, f); window)
          products.add(offsetAt(x, at[0], *window, {f}), weight);
        else
          products.addPadding(weight);
    }
    products.store(i);
  }
}

static void convolutionWeights(ConvolutionWeightsOp op, Call &call) {
  const Tensor &x = call.operand(0), &grad = call.operand(1);
  Slide slide(SlideOptions::of(op), inner(x.getShape()), call.sizes(op.getSize()));
  if (!slide.fits())
    return call.refuse();
  ArrayRef<int64_t> shape = call.result().getShape();
  int64_t width = shape.end()[-2], perGroup = shape.back() / int64_t(op.getGroups()), i = 0;
  for (Positions at(shape); !at.done(); at.next(), ++i) {
    int64_t feature = (*at).back(), channel = feature / perGroup * width + (*at).end()[-2];
    Products products(call);
    for (int64_t n = 0; n < x.getShape().front(); ++n)
      for (Positions window(slide.getCounts()); !window.done(); window.next())
        if (int64_t factor = offsetAt(grad, n, *window, {feature});
            auto place = slide.place(*window, (*at).drop_back(2)))
          products.add(offsetAt(x, n, *place, {channel}), factor);
        else
          products.addPadding(factor);
    products.store(i);
  }
}

void addConvolution(Registry &registry) {
  registry.add<ConvolutionOp>(convolution);
  registry.add<ConvolutionTransposeOp>(convolutionTranspose);
  registry.add<ConvolutionWeightsOp>(convolutionWeights);
}

} // namespace tfc::reference
