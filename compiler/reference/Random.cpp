//===- Random.cpp - Random numbers from counters --------------------------===//
//
// Philox 4x32-10 after Salmon et al., Parallel random numbers: as easy as 1, 2,
// 3 (2011), and the distributions following the definitions of the operations.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Pointwise.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

using Reals = ArrayRef<double>;
using Words = std::array<uint32_t, 4>;

static Words philox(Words counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t(0xD2511F53) * counter[0];
    uint64_t product1 = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(product1 >> 32) ^ counter[1] ^ key0, uint32_t(product1),
               uint32_t(product0 >> 32) ^ counter[3] ^ key1, uint32_t(product0)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

/// The words of an element: its position, the counter and the seed, low half first.
static Words wordsFor(int64_t counter, int64_t element, uint64_t seed) {
  uint64_t low = uint64_t(element), high = uint64_t(counter);
  return philox({uint32_t(low), uint32_t(low >> 32), uint32_t(high), uint32_t(high >> 32)},
                uint32_t(seed), uint32_t(seed >> 32));
}

/// The uniform numbers u (0) and v (1) of an element in [0, 1).
static double uniform(Type elementType, const Words &words, int n) {
  if (!elementType.isF64())
    return std::ldexp(double(words[n] >> 8), -24);
  double high = std::ldexp(double(words[2 * n] >> 5), 26);
  return std::ldexp(high + double(words[2 * n + 1] >> 6), -53);
}

/// The type of the draw: f32 or f64, in which the dtype computes.
static Type drawnType(Type elementType) {
  return elementType.isF64() ? elementType : Float32Type::get(elementType.getContext());
}

/// offset + x * scale, rounded once or twice.
static Real affine(Type type, Real x, double scale, double offset) {
  Real scaled = apply(type, 1, [=](Reals v) { return v[0] * scale; }, x);
  return apply(type, 1, [=](Reals v) { return v[0] + offset; }, scaled);
}

/// Registers a distribution; `draw(op, type, words)` returns a number of the type of the draw.
template <typename Op, typename Draw> static void addFloat(Registry &registry, Draw draw) {
  registry.add<Op>([=](Op op, Call &call) {
    Tensor &result = call.result();
    Type type = drawnType(result.getElementType());
    for (int64_t i = 0; i < result.size(); ++i) {
      Words words = wordsFor(call.operand().integer(0), i, op.getSeed());
      result.setRounded(i, draw(op, type, words), 0.5);
    }
    if (!call.operand().isDetermined())
      result.setUndetermined();
  });
}

static Real drawUniform(RandomUniformOp op, Type type, const Words &words) {
  double low = op.getLow().convertToDouble(), high = op.getHigh().convertToDouble();
  return affine(type, {uniform(type, words, 0), 0}, high - low, low);
}

/// Box-Muller: the radius times the cosine of an angle.
static Real drawNormal(RandomNormalOp op, Type type, const Words &words) {
  Real rest = {1 - uniform(type, words, 0), 0};
  Real log = apply(type, 2, [](Reals v) { return std::log(v[0]); }, rest);
  Real radius = apply(type, 1, [](Reals v) { return std::sqrt(-2 * v[0]); }, log, {0.0});
  Real angle =
      apply(type, 1, [](Reals v) { return 2 * M_PI * v[0]; }, {{uniform(type, words, 1), 0}});
  Real cosine = apply(type, 2, [](Reals v) { return std::cos(v[0]); }, angle);
  Real normal = apply(type, 0.5, [](Reals v) { return v[0] * v[1]; }, {radius, cosine});
  return affine(type, normal, op.getStddev().convertToDouble(), op.getMean().convertToDouble());
}

/// The number whose error function is `y`, by bisection.
static double inverseErf(double y) {
  double low = -4, high = 4;
  for (int step = 0; step < 80; ++step) {
    double middle = (low + high) / 2;
    (std::erf(middle) < y ? low : high) = middle;
  }
  return (low + high) / 2;
}

static Real drawTruncatedNormal(RandomTruncatedNormalOp op, Type type, const Words &words) {
  double edge = std::erf(M_SQRT2);
  Real y = affine(type, {uniform(type, words, 0), 0}, 2 * edge, -edge);
  Real normal = apply(type, 16, [](Reals v) { return inverseErf(v[0]); }, y);
  return affine(type, normal, M_SQRT2 * op.getStddev().convertToDouble(),
                op.getMean().convertToDouble());
}

static void drawInteger(RandomIntegerOp op, Call &call) {
  uint64_t range = uint64_t(op.getHigh()) - uint64_t(op.getLow());
  for (int64_t i = 0; i < call.result().size(); ++i) {
    uint64_t word = wordsFor(call.operand().integer(0), i, op.getSeed())[0];
    // At most 2^32 times 2^32 - 1.
    uint64_t offset = (word * range) >> 32;
    call.result().setInteger(i, int64_t(uint64_t(op.getLow()) + offset),
                             call.operand().isDetermined());
  }
}

static void drawBernoulli(RandomBernoulliOp op, Call &call) {
  double probability = op.getProbability().convertToDouble();
  Type single = Float32Type::get(op.getContext());
  for (int64_t i = 0; i < call.result().size(); ++i) {
    Words words = wordsFor(call.operand().integer(0), i, op.getSeed());
    call.result().setConstant(i, uniform(single, words, 0) < probability);
    if (!call.operand().isDetermined())
      call.result().setError(i, kUndetermined);
  }
}

void addRandom(Registry &registry) {
  addFloat<RandomUniformOp>(registry, drawUniform);
  addFloat<RandomNormalOp>(registry, drawNormal);
  addFloat<RandomTruncatedNormalOp>(registry, drawTruncatedNormal);
  registry.add<RandomIntegerOp>(drawInteger);
  registry.add<RandomBernoulliOp>(drawBernoulli);
}

} // namespace tfc::reference
