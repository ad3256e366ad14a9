//===- Frames.h - Which node runs in which frame ----------------------------===//

#pragma once

#include "compiler/controlflow/Graph.h"

namespace tfc::controlflow {

/// Gives every node its frame, the innermost one of those that its inputs are in: values of outer
/// frames are constants in inner ones. Sorts the nodes of `graph` topologically and puts them into
/// their frames; the first frame is that of the whole graph. Reports what is no tree of frames.
llvm::LogicalResult assignFrames(Graph &graph);

} // namespace tfc::controlflow
