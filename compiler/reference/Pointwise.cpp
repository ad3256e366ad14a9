//===- Pointwise.cpp - Evaluating functions element by element ------------===//

#include "compiler/reference/Pointwise.h"
#include <cmath>

using namespace mlir;

namespace tfc::reference {

/// The places of an operand's interval at which a function is looked at, the value first.
static SmallVector<double> samplesOf(Real x, ArrayRef<double> critical) {
  SmallVector<double> samples = {x.value};
  if (x.value == 0 && x.error == kEitherZero)
    return {0.0, -0.0};
  if (x.isExact() || !std::isfinite(x.value))
    return samples;
  double low = x.value - x.error, high = x.value + x.error;
  samples.append({low, high, x.value - x.error / 2, x.value + x.error / 2});
  for (double place : critical)
    if (low <= place && place <= high)
      samples.append({place, -place});
  return samples;
}

Real evaluateAt(RealFunction function, ArrayRef<Real> operands, ArrayRef<double> critical) {
  SmallVector<SmallVector<double>> samples;
  SmallVector<double> at;
  bool isDetermined = true;
  for (Real operand : operands) {
    samples.push_back(samplesOf(operand, critical));
    at.push_back(operand.value);
    isDetermined &= operand.isDetermined();
  }
  Real result{function(at), isDetermined ? 0 : kUndetermined};
  if (!isDetermined)
    return result;
  SmallVector<int64_t> counts;
  for (const auto &places : samples)
    counts.push_back(places.size());
  for (Positions choice(counts); !choice.done(); choice.next()) {
    for (size_t i = 0; i < at.size(); ++i)
      at[i] = samples[i][choice[i]];
    double other = function(at);
    result.error = std::max(result.error, distance(result.value, other));
    if (result.value == 0 && other == 0 && std::signbit(result.value) != std::signbit(other))
      result.error = std::max(result.error, kEitherZero);
  }
  return result;
}

void forEachElement(Call &call, llvm::function_ref<void(int64_t, ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> offsets(call.getOperands().size());
  int64_t i = 0;
  for (Positions place(call.result().getShape()); !place.done(); place.next(), ++i) {
    for (auto [offset, operand] : llvm::zip_equal(offsets, call.getOperands()))
      offset = broadcastOffset(*place, operand->getShape());
    visit(i, offsets);
  }
}

void mapBounded(Call &call, double ulps, llvm::function_ref<Real(ArrayRef<Real>)> evaluate) {
  SmallVector<Real> operands(call.getOperands().size());
  forEachElement(call, [&](int64_t i, ArrayRef<int64_t> offsets) {
    for (auto [n, offset] : llvm::enumerate(offsets))
      operands[n] = call.operand(n).real(offset);
    call.result().setRounded(i, evaluate(operands), ulps);
  });
}

void mapReal(Call &call, double ulps, RealFunction function, ArrayRef<double> critical) {
  mapBounded(call, ulps,
             [&](ArrayRef<Real> operands) { return evaluateAt(function, operands, critical); });
}

void mapChoice(Call &call, double ulps, RealFunction function, ArrayRef<double> critical) {
  mapBounded(call, ulps, [&](ArrayRef<Real> operands) {
    Real result = evaluateAt(function, operands, critical);
    if (result.value == 0 && llvm::any_of(operands, mayBeNegativeZero))
      result.error = std::max(result.error, kEitherZero);
    return result;
  });
}

Real apply(Type elementType, double ulps, RealFunction function, ArrayRef<Real> operands,
           ArrayRef<double> critical) {
  return rounded(elementType, evaluateAt(function, operands, critical), ulps);
}

void mapInteger(Call &call, IntegerFunction function) {
  SmallVector<int64_t> operands(call.getOperands().size());
  forEachElement(call, [&](int64_t i, ArrayRef<int64_t> offsets) {
    bool isDetermined = true;
    for (auto [n, offset] : llvm::enumerate(offsets)) {
      operands[n] = call.operand(n).integer(offset);
      isDetermined &= call.operand(n).isDetermined(offset);
    }
    call.result().setInteger(i, function(operands), isDetermined);
  });
}

} // namespace tfc::reference
