//===- Extremes.h - Numbers at which operations decide --------------------===//

#pragma once

#include "Random.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APInt.h"

namespace tfc::random {

/// The bits of a number of `type` at a limit of one of the dtypes, at a tie of a rounding, or
/// otherwise special. These numbers are few, so that operations often get equal ones.
llvm::APInt drawExtreme(Random &random, mlir::Type type);

} // namespace tfc::random
