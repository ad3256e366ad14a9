//===- Loops.h - Frames become loops ----------------------------------------===//

#pragma once

#include "compiler/controlflow/Graph.h"

namespace tfc::controlflow {

/// Replaces each frame, innermost ones first, by a node of its parent that is a loop, so that
/// `graph.nodes` are those of the outermost frame, an acyclic graph, sorted topologically. What
/// runs in a loop's last iteration behind its condition is copied to its parent. Frames that are no
/// `while` are errors.
llvm::LogicalResult structureLoops(Graph &graph);

} // namespace tfc::controlflow
