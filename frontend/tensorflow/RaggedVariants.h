// Ragged tensors in variants, which loops over their rows read and return.
#pragma once

#include "frontend/tensorflow/GraphDef.h"

namespace tfc::tensorflow {

/// Replaces variants with ragged tensors by their splits and values, and lists of such variants by
/// a list for each of these. A list that takes its elements from the rows of a ragged tensor, and
/// does not change, is the ragged tensor itself. Nodes that cannot be replaced are noted in
/// `graph.refused`.
void expandRaggedVariants(mlir::MLIRContext *context, Graph &graph);

} // namespace tfc::tensorflow
