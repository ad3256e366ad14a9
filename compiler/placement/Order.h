//===- Order.h - The order of operations in an entry ----------------------===//

#pragma once

#include "dialects/dfg/RunTimeSizes.h"
#include "llvm/ADT/MapVector.h"

namespace tfc::placement {

/// The operations of blocks, without terminators.
using BlockOrders = llvm::MapVector<mlir::Block *, llvm::SmallVector<mlir::Operation *>>;

/// The operations of a block that each operation has to follow: producers of what it reads, what
/// binds and guards the sizes that it mentions, and earlier operations with effects.
using Dependences = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 4>>;
Dependences findDependences(mlir::Block &block, const dfg::RunTimeSizes &sizes);

/// Returns the operations of each block of an entry in the order of their starts, as far as
/// dependences and effects allow; equal ones keep their order. `startOf` returns the start of an
/// operation, std::nullopt for one that may be anywhere.
BlockOrders orderByStart(dfg::EntryOp entry,
                         llvm::function_ref<std::optional<double>(mlir::Operation *)> startOf);

/// Moves the operations into that order.
void applyOrders(const BlockOrders &orders);

} // namespace tfc::placement
