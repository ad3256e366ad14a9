// Bounds of index expressions, from those of the loops that they use.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include <optional>

namespace tfc::kernels {

/// The integers from `first` to `last`.
struct IndexRange {
  int64_t first = 0, last = 0;
};

/// Returns bounds of an expression whose dims have the given ranges, or std::nullopt if it depends
/// on a symbol, on a dim without a range, or on a product of them.
std::optional<IndexRange>
rangeOf(mlir::AffineExpr expr,
        llvm::function_ref<std::optional<IndexRange>(mlir::AffineDimExpr)> rangeOfDim);

} // namespace tfc::kernels
