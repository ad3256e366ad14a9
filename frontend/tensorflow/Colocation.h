// Nodes that shall be on one device.
#pragma once

#include "frontend/tensorflow/GraphDef.h"

namespace tfc::tensorflow {

/// Completes the devices of nodes by those of the nodes next to which they shall be: an attribute
/// `_class` names them as `loc:@node`, which holds in both directions, as in TensorFlow. The device
/// that a node names itself comes first, then those of the nodes in its attribute, then the first
/// of the others in the file; a name that contradicts these is left out. Nodes of a group in which
/// none says more than a task are next to its variables and queues.
void colocate(Graph &graph);

} // namespace tfc::tensorflow
