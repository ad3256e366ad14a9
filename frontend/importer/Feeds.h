// The types of feeds: what the caller says of their sizes, and what the graph says.
#pragma once

#include "frontend/GraphBuilder.h"
#include "frontend/importer/Diagnostics.h"
#include "frontend/importer/EntrySpec.h"
#include "frontend/importer/Node.h"

namespace tfc::importer {

/// What a graph says of one of its inputs.
struct GraphInput {
  llvm::StringRef name;
  mlir::Type elementType;
  std::optional<PartialShape> shape;
  mlir::Location location;
};

/// The type of a feed, whose sizes get names where nothing says them: that of the graph, or `n` for
/// the first axis. Adds the names to `header`. Null after an error.
mlir::RankedTensorType feedType(const FeedSpec &feed, const GraphInput &input, EntryHeader &header,
                                Diagnostics &diagnostics);

/// The elements that the caller says of a feed of this type; nothing if it does not say them, or
/// they do not fit.
std::optional<dfg::SizeTensor> fedSizes(const FeedSpec &feed, mlir::RankedTensorType type);

} // namespace tfc::importer
