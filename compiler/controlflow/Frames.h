//===- Frames.h - The frame of each node ----------------------------------===//

#pragma once

#include "compiler/controlflow/Graph.h"

namespace tfc::controlflow {

/// Assigns every node its frame, the innermost frame of its inputs: values of outer frames are
/// constants in inner ones. Sorts the nodes of `graph` topologically and adds them to their frames;
/// the first frame is that of the whole graph. Reports frames that do not form a tree.
llvm::LogicalResult assignFrames(Graph &graph);

} // namespace tfc::controlflow
