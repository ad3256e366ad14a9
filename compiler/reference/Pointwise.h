//===- Pointwise.h - Evaluating functions element by element --------------===//

#pragma once

#include "compiler/reference/Registry.h"

namespace tfc::reference {

using RealFunction = llvm::function_ref<double(llvm::ArrayRef<double>)>;
using IntegerFunction = llvm::function_ref<int64_t(llvm::ArrayRef<int64_t>)>;

/// The value of a function of inexact numbers. The error is the largest change at the ends and
/// midpoints of the operands' intervals and at those of the `critical` operand values (poles,
/// jumps, extremes) inside them; the limits are the extremes there. The function must therefore be
/// monotone in each operand between these points.
Real evaluateAt(RealFunction function, llvm::ArrayRef<Real> operands,
                llvm::ArrayRef<double> critical = {});

/// The sum of two inexact numbers, and the negative of one.
Real add(Real lhs, Real rhs);
Real negate(Real x);

/// Returns true if all operands are the same tensor, so that their errors are equal.
bool isOneOperand(Call &call);

/// Sets every element of the result to a function, accurate to `ulps`, of the elements of the float
/// operands at the same (broadcast) position.
void mapReal(Call &call, double ulps, RealFunction function, llvm::ArrayRef<double> critical = {});

/// The same for a function that chooses the larger or smaller of two zeros, either of which may be
/// chosen.
void mapChoice(Call &call, double ulps, RealFunction function,
               llvm::ArrayRef<double> critical = {});

/// Sets every element of the result to that of `evaluate` for the float operands there, rounded
/// like a function accurate to `ulps`.
void mapBounded(Call &call, double ulps, llvm::function_ref<Real(llvm::ArrayRef<Real>)> evaluate);

/// A function of inexact numbers as evaluated by an operation of the dtype that is accurate to
/// `ulps`.
Real apply(mlir::Type elementType, double ulps, RealFunction function,
           llvm::ArrayRef<Real> operands, llvm::ArrayRef<double> critical = {});

/// The same for integers and bool; the result wraps, and is undetermined if an operand is.
void mapInteger(Call &call, IntegerFunction function);
/// The same, on numbers in the order of the type, which the function chooses from.
void mapKeys(Call &call, IntegerFunction function);

/// Calls `visit` with each position of the result and the operands' offsets there.
void forEachElement(Call &call, llvm::function_ref<void(int64_t, llvm::ArrayRef<int64_t>)> visit);

/// Registers an elementwise operation on floats: the function and its accuracy in ulps.
template <typename Op>
void addReal(Registry &registry, double ulps, double (*function)(llvm::ArrayRef<double>),
             std::vector<double> critical = {}) {
  registry.add<Op>([=](Op, Call &call) { mapReal(call, ulps, function, critical); });
}

/// Registers an elementwise operation on floats and integers that chooses between zeros.
template <typename Op>
void addChoice(Registry &registry, double (*real)(llvm::ArrayRef<double>),
               int64_t (*integer)(llvm::ArrayRef<int64_t>), std::vector<double> critical = {}) {
  registry.add<Op>([=](Op, Call &call) {
    if (call.operand().isFloat())
      mapChoice(call, 0, real, critical);
    else
      mapKeys(call, integer);
  });
}

/// Registers an elementwise operation on floats and integers.
template <typename Op>
void addNumeric(Registry &registry, double ulps, double (*real)(llvm::ArrayRef<double>),
                int64_t (*integer)(llvm::ArrayRef<int64_t>), std::vector<double> critical = {}) {
  registry.add<Op>([=](Op, Call &call) {
    if (call.operand().isFloat())
      mapReal(call, ulps, real, critical);
    else
      mapInteger(call, integer);
  });
}

} // namespace tfc::reference
