//===- Activation.cpp - Nonlinearities of neural networks -----------------===//
//
// Evaluates activations. Those that are not monotone name their minima, because bounds are computed
// at the ends of intervals.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Pointwise.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

using Reals = ArrayRef<double>;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
static double elu(double x, double alpha) { return x > 0 ? x : alpha * std::expm1(x); }

/// The minima of functions that are not monotone.
constexpr double kLeastGelu = -0.7517915246935645, kLeastApproximateGelu = -0.7524614220710163,
                 kLeastSilu = -1.278464542761074;

/// x times the cumulative distribution at x, exact or approximated by tanh. The error of the
/// distribution is some ulp of 1, however small it is.
static void gelu(GeluOp op, Call &call) {
  double (*exact)(Reals) = [](Reals x) { return 0.5 * x[0] * std::erfc(-x[0] / std::sqrt(2.0)); };
  double (*approximate)(Reals) = [](Reals x) {
    double u = std::sqrt(2 / M_PI) * (x[0] + 0.044715 * x[0] * x[0] * x[0]);
    return 0.5 * x[0] * (1 + std::tanh(u));
  };
  double unit = formatOf(call.operand().getElementType()).computeUlp;
  mapBounded(call, 2, [&](ArrayRef<Real> x) {
    Real y = evaluateAt(op.getApproximate() ? approximate : exact, x,
                        {kLeastGelu, kLeastApproximateGelu});
    if (y.isBounded())
      y.widen(6 * unit * x[0].size());
    return y;
  });
}

/// x / (1 + exp(-x)), which is 0 if the exponential overflows.
static void silu(SiluOp, Call &call) {
  double most = std::log(formatOf(call.operand().getElementType()).largest);
  mapBounded(call, 4, [&](ArrayRef<Real> x) {
    Real y = evaluateAt([](Reals at) { return at[0] * sigmoid(at[0]); }, x, {kLeastSilu});
    if (y.isBounded() && x[0].low() < 0.001 - most)
      y.widen(std::fabs(y.value));
    return y;
  });
}

/// max(x, 0) - x p + log(1 + exp(-|x|)): terms that cancel leave their rounding errors, or overflow
/// although the result does not.
static void sigmoidCrossEntropy(SigmoidCrossEntropyOp, Call &call) {
  const Format &format = formatOf(call.operand().getElementType());
  auto loss = [](Reals x) {
    return std::max(x[0], 0.0) - x[0] * x[1] + std::log1p(std::exp(-std::fabs(x[0])));
  };
  mapBounded(call, 3, [&](ArrayRef<Real> x) {
    Real y = evaluateAt(loss, x, {0.0});
    if (!y.isBounded())
      return y;
    y.widen(2 * format.computeUlp * x[0].size() * (1 + x[1].size()));
    if (x[0].size() * x[1].size() > 0.5 * format.largest)
      y.error = kUndetermined;
    return y;
  });
}

/// The units in the last place are those of docs/numerics.md.
void addActivation(Registry &registry) {
  addReal<SigmoidOp>(registry, 4, [](Reals x) { return sigmoid(x[0]); });
  registry.add<SiluOp>(silu);
  addReal<SoftplusOp>(registry, 4, [](Reals x) { return softplus(x[0]); });
  addReal<SoftsignOp>(registry, 2, [](Reals x) { return x[0] / (1 + std::fabs(x[0])); });
  registry.add<GeluOp>(gelu);
  registry.add<EluOp>([](EluOp op, Call &call) {
    double alpha = op.getAlpha().convertToDouble();
    mapChoice(call, 3, [=](Reals x) { return elu(x[0], alpha); }, {0.0});
  });
  registry.add<SeluOp>([](SeluOp, Call &call) {
    auto selu = [](Reals x) { return 1.0507009873554805 * elu(x[0], 1.6732632423543772); };
    mapChoice(call, 4, selu, {0.0});
  });
  registry.add<LeakyReluOp>([](LeakyReluOp op, Call &call) {
    double slope = op.getSlope().convertToDouble();
    mapReal(call, 1.5, [=](Reals x) { return x[0] > 0 ? x[0] : slope * x[0]; }, {0.0});
  });
  registry.add<SigmoidCrossEntropyOp>(sigmoidCrossEntropy);
}

} // namespace tfc::reference
