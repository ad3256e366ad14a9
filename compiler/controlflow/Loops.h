//===- Loops.h - Frames become loops --------------------------------------===//

#pragma once

#include "compiler/controlflow/Graph.h"

namespace tfc::controlflow {

/// Replaces each frame, innermost ones first, by a node of its parent that is a loop, so that
/// `graph.nodes` are those of the outermost frame, an acyclic graph, sorted topologically. The
/// nodes that run after the condition in a loop's last iteration are copied to its parent. Frames
/// that are not `while` loops are errors.
llvm::LogicalResult structureLoops(Graph &graph);

} // namespace tfc::controlflow
