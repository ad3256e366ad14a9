//===- NodeName.h - Names of nodes in locations ---------------------------===//
//
// Graphs without lines have locations that name a node. This header depends on MLIR's IR alone, so
// that code that converts locations need not link the dialect.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace tfc::dfg {

/// The name of the node of a graph without lines to which a location leads; empty elsewhere.
inline llvm::StringRef nodeOf(mlir::Location location) {
  while (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location)) {
    if (fused.getLocations().empty())
      return {};
    location = fused.getLocations().front();
  }
  auto named = llvm::dyn_cast<mlir::NameLoc>(location);
  return named ? named.getName().getValue() : llvm::StringRef();
}

} // namespace tfc::dfg
