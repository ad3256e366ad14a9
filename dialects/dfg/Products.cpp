//===- Products.cpp - The size of sums of products ------------------------===//
//
// Counts what contractions multiply, for estimates of their time. In a file of its own because the
// operations belong to two families.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Products.h"
#include "dialects/dfg/ConvolutionOps.h"
#include "dialects/dfg/Labels.h"
#include "dialects/dfg/Roles.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tfc::dfg {

/// Each name is an axis, in whatever tensors it is.
static Shape axesOf(ContractOp op) {
  Einsum einsum;
  (void)readEinsum(std::nullopt, "contract", op.getLabels(), op->getOperandTypes(),
                   /*takesDiagonals=*/false, einsum);
  Shape axes;
  llvm::StringSet<> known;
  for (const LabelNames &names : einsum.inputs)
    for (const std::string &name : names)
      if (known.insert(name).second)
        axes.push_back(einsum.sizes.lookup(name));
  return axes;
}

static Shape axesOf(MatmulOp op) {
  Shape lhs = shapeOf(op.getLhs().getType()), axes = shapeOf(op->getResult(0).getType());
  axes.push_back(lhs.end()[op.getTransposeLhs() ? -2 : -1]);
  return axes;
}

Shape productAxes(Operation *op) {
  assert(op->hasTrait<ContractionRole>() && "expected a sum of products");
  if (auto contract = dyn_cast<ContractOp>(op))
    return axesOf(contract);
  return axesOf(cast<MatmulOp>(op));
}

} // namespace tfc::dfg
