// Implements the rule of operations that are functions in the shipped file tensorflow.graph, which
// defines their results.

#include "frontend/importer/LibraryCall.h"
#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

static Outcome buildFunction(NodeBuilder &node, const OpRule &) {
  return LibraryCall(node, node.entry.functions).build(functionOf(node.node.op));
}

/// The function declares inputs and attributes.
const OpRule &functionRule() {
  static constexpr OpRule kRule = {"", "1+ -> 1", buildFunction};
  return kRule;
}

} // namespace tfc::tensorflow
