//===- Loop.h - Counters of loops ---------------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc {

/// A carried integer that is `init + step * k` in iteration k.
struct Induction {
  mlir::Value init, step;
};

/// Whether the carried value `i` is an induction.
std::optional<Induction> findInduction(dfg::WhileOp loop, unsigned i);

/// The value of an induction in iteration `index`.
mlir::Value buildInduction(mlir::OpBuilder &b, mlir::Location loc, const Induction &induction,
                           mlir::Value index);

} // namespace tfc
