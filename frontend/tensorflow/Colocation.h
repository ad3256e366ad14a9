// Nodes that shall be on one device.
#pragma once

#include "frontend/tensorflow/GraphDef.h"

namespace tfc::tensorflow {

/// Completes the devices of nodes by those of the nodes next to which they shall be: an attribute
/// `_class` names them as `loc:@node`, which holds in both directions, as in TensorFlow. The device
/// that a node names itself comes first, then those of the nodes in its attribute, then the first
/// of the others in the file. If no node of a group names one, all are next to its variable or
/// queue.
void colocate(Graph &graph);

} // namespace tfc::tensorflow
