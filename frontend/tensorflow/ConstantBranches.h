// Branches whose condition is a constant of the graph.
#pragma once

#include "frontend/tensorflow/GraphDef.h"

namespace tfc::tensorflow {

/// Connects what a Switch with a constant condition forwards to its readers, and lets a Merge of
/// one live branch be an Identity. So shapes of that branch are known, whatever those of the others
/// are.
void resolveConstantBranches(Graph &graph);

} // namespace tfc::tensorflow
