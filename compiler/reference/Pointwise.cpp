//===- Pointwise.cpp - Evaluating functions element by element ------------===//
//
// Evaluates functions of single numbers on all elements of tensors, with the bounds that follow
// from the intervals of the operands. The functions are in the files of their families.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Pointwise.h"
#include <cmath>

using namespace mlir;

namespace tfc::reference {

/// The points of an operand's interval at which a function is evaluated, the value first.
static SmallVector<double> samplesOf(Real x, ArrayRef<double> critical) {
  SmallVector<double> samples = {x.value};
  if (x.value == 0 && x.error == kEitherZero)
    return {0.0, -0.0};
  if (x.isExact() || !std::isfinite(x.value))
    return samples;
  double low = x.low(), high = x.high();
  samples.append({low, high, (x.value + low) / 2, (x.value + high) / 2});
  for (double place : critical) {
    if (low <= place && place <= high)
      samples.push_back(place);
    if (place == 0 && low <= 0 && high >= 0)
      samples.push_back(-0.0);
  }
  return samples;
}

/// Extends the bounds of the result to include a value of the function.
static void include(Real &result, double value) {
  result.error = std::max(result.error, distance(result.value, value));
  if (result.value == 0 && value == 0 && std::signbit(result.value) != std::signbit(value))
    result.error = std::max(result.error, kEitherZero);
  result.least = std::min(result.least, value);
  result.most = std::max(result.most, value);
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
  double value = function(at);
  if (!isDetermined)
    return {value, kUndetermined};
  Real result{value, 0, value, value};
  SmallVector<int64_t> counts;
  for (const auto &places : samples)
    counts.push_back(places.size());
  for (Positions choice(counts); !choice.done(); choice.next()) {
    for (size_t i = 0; i < at.size(); ++i)
      at[i] = samples[i][choice[i]];
    include(result, function(at));
  }
  return result.isBounded() ? result : Real{value, result.error};
}

Real add(Real lhs, Real rhs) {
  double value = lhs.value + rhs.value;
  if (lhs.error == 0 && rhs.error == 0)
    return {value, 0};
  bool isSimple = !lhs.isExact() || !rhs.isExact();
  if (!isSimple || !lhs.isBounded() || !rhs.isBounded() || !std::isfinite(value))
    return evaluateAt([](ArrayRef<double> x) { return x[0] + x[1]; }, {lhs, rhs});
  return {value, lhs.error + rhs.error, lhs.low() + rhs.low(), lhs.high() + rhs.high()};
}

Real negate(Real x) { return {-x.value, x.error, -x.most, -x.least}; }

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

bool isOneOperand(Call &call) { return llvm::all_equal(call.getOperands()); }

void mapReal(Call &call, double ulps, RealFunction function, ArrayRef<double> critical) {
  SmallVector<double> same(call.getOperands().size());
  auto functionOfOne = [&](ArrayRef<double> x) {
    llvm::fill(same, x[0]);
    return function(same);
  };
  bool isOne = isOneOperand(call);
  mapBounded(call, ulps, [&](ArrayRef<Real> operands) {
    if (isOne)
      return evaluateAt(functionOfOne, operands.front(), critical);
    return evaluateAt(function, operands, critical);
  });
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

void mapKeys(Call &call, IntegerFunction function) {
  Type type = call.operand().getElementType();
  mapInteger(call, [&](ArrayRef<int64_t> operands) {
    SmallVector<int64_t> keys;
    for (int64_t operand : operands)
      keys.push_back(orderKey(type, operand));
    return orderKey(type, function(keys));
  });
}

} // namespace tfc::reference
