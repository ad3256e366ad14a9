// The types of feeds, from the sizes that the caller and the graph specify.
#pragma once

#include "frontend/GraphBuilder.h"
#include "frontend/importer/Diagnostics.h"
#include "frontend/importer/EntrySpec.h"
#include "frontend/importer/Node.h"

namespace tfc::importer {

/// The declaration of an input in a graph.
struct GraphInput {
  llvm::StringRef name;
  mlir::Type elementType;
  std::optional<PartialShape> shape;
  mlir::Location location;
};

/// Returns the type of a feed; `feed` is null if the entry takes the inputs of the graph. Sizes
/// that neither the caller nor the graph specifies get names: the graph's name, or `n` for the
/// first axis. Adds the names to `header`. Returns null after an error.
mlir::RankedTensorType feedType(const FeedSpec *feed, const GraphInput &input, EntryHeader &header,
                                Diagnostics &diagnostics);

/// Returns the elements that the caller specifies for a feed of this type, or std::nullopt if there
/// are none or they do not fit.
std::optional<dfg::SizeTensor> fedSizes(const FeedSpec &feed, mlir::RankedTensorType type);
/// The same for a feed of floats; null if there are none or they do not fit.
mlir::ElementsAttr fedReals(const FeedSpec &feed, mlir::RankedTensorType type);

} // namespace tfc::importer
