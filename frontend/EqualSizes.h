// Finds sizes that calls compute in the same way.
#pragma once

#include "dialects/dfg/SizeOps.h"

namespace tfc {

/// Returns an operation of the block, or in a node of it, that binds a size with this bound to a
/// value that is equal to `count` in each call where that is live, or null: operations without
/// effects compute both from the same values. Does not recognise long computations.
dfg::BindSizeOp findEqualSize(mlir::Block &block, mlir::Value count, const dfg::DimExpr &bound);

} // namespace tfc
