//===- StoredViews.h - Views that kernels store ---------------------------===//
//
// A view is an access map of each kernel that reads it. That is cheaper than a copy unless the map
// makes the reader slower than the copy would be.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/HostForm.h"

namespace tfc::fusion {

/// Returns true if a kernel stores the view, instead of each reader computing it.
bool isStoredView(mlir::Operation *op);

/// Marks the factors of products that are slices with steps along summed axes.
void storeSteppedFactors(dfg::EntryOp entry);

/// Stores rows of the first factors of large products that are in columns, for processors that read
/// both factors step by step.
void storeTransposedFactors(dfg::EntryOp entry);

/// Marks views of many other views in one block.
void storeDeepViews(mlir::Block &block);

} // namespace tfc::fusion
