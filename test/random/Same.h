//===- Same.h - Whether two modules are the same graph --------------------===//

#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tfc::random {

/// Returns a difference between the modules, or nothing for two forms of one graph.
///
/// Values are compared by how they are computed, so that pure operations may be repeated, unused or
/// in another order; operations with effects are the same in the same order. A variable without an
/// initial value is one of zeros. Locations, what fetches are called in messages and the default
/// name of a module make no difference.
std::string findDifference(mlir::ModuleOp one, mlir::ModuleOp other);

} // namespace tfc::random
