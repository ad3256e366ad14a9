// Operations that are functions in the shipped file tensorflow.graph, which defines what they
// compute.

#include "frontend/importer/LibraryCall.h"
#include "frontend/importer/OperationTable.h"
#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

StringRef functionOf(StringRef op) {
  static constexpr Alias kAliases[] = {{"FusedBatchNorm", "FusedBatchNormV3"},
                                       {"FusedBatchNormV2", "FusedBatchNormV3"},
                                       {"FusedBatchNormGrad", "FusedBatchNormGradV3"},
                                       {"FusedBatchNormGradV2", "FusedBatchNormGradV3"}};
  const Alias *found =
      llvm::find_if(kAliases, [&](const Alias &alias) { return alias.name == op; });
  return found == std::end(kAliases) ? op : StringRef(found->op);
}

static Outcome buildFunction(NodeBuilder &node, const OpRule &) {
  return LibraryCall(node, node.entry.functions).build(functionOf(node.node.op));
}

/// The function declares inputs and attributes.
const OpRule &functionRule() {
  static constexpr OpRule kRule = {"", "1+ -> 1", buildFunction};
  return kRule;
}

} // namespace tfc::tensorflow
