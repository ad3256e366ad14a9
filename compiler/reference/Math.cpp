//===- Math.cpp - Elementwise functions of one tensor ---------------------===//
//
// Evaluates elementary functions of one tensor; each states its accuracy and the points at which it
// is not monotone.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Pointwise.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

using Reals = ArrayRef<double>;
using Integers = ArrayRef<int64_t>;

/// The units in the last place are those of docs/numerics.md.
void addMath(Registry &registry) {
  addReal<ExpOp>(registry, 2, [](Reals x) { return std::exp(x[0]); });
  addReal<LogOp>(registry, 2, [](Reals x) { return std::log(x[0]); }, {0.0});
  addReal<SqrtOp>(registry, 0.5, [](Reals x) { return std::sqrt(x[0]); }, {0.0});
  addReal<RsqrtOp>(registry, 2, [](Reals x) { return 1 / std::sqrt(x[0]); }, {0.0});
  addReal<TanhOp>(registry, 6, [](Reals x) { return std::tanh(x[0]); });
  addReal<Exp2Op>(registry, 2, [](Reals x) { return std::exp2(x[0]); });
  addReal<Expm1Op>(registry, 2, [](Reals x) { return std::expm1(x[0]); });
  addReal<Log2Op>(registry, 2, [](Reals x) { return std::log2(x[0]); }, {0.0});
  addReal<Log1pOp>(registry, 3, [](Reals x) { return std::log1p(x[0]); }, {-1.0});
  addReal<ReciprocalOp>(registry, 0.5, [](Reals x) { return 1 / x[0]; }, {0.0});
  registry.add<ReluOp>([](ReluOp, Call &call) {
    if (call.operand().isFloat())
      mapChoice(call, 0, [](Reals x) { return x[0] < 0 ? 0.0 : x[0]; }, {0.0});
    else if (call.operand().getElementType().isUnsignedInteger())
      call.result() = call.operand();
    else
      mapInteger(call, [](Integers x) { return std::max<int64_t>(x[0], 0); });
  });
}

} // namespace tfc::reference
