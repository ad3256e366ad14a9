// The rules of datasets, which the verifier and readers of graphs share.
#pragma once

#include "dialects/dfg/Enums.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>
#include <string>

namespace tfc::dfg {

/// Returns why there can be no dataset of rows with these components in this number of files, or
/// std::nullopt.
std::optional<std::string> checkDataset(DatasetFormat format,
                                        llvm::ArrayRef<mlir::RankedTensorType> components,
                                        size_t pathCount, int64_t skip);

} // namespace tfc::dfg
