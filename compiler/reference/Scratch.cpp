//===- Scratch.cpp - Operations of which gradients consist ----------------===//
//
// Builds the operations of which gradients consist, outside of the module, and keeps them for later
// executions. Gradients.cpp decides which gradients it needs.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Scratch.h"
#include "dialects/dfg/Dfg.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

void Fragment::prune() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() &&
        llvm::none_of(op.getResults(), [&](Value v) { return llvm::is_contained(results, v); }))
      op.erase();
}

static OpBuilder builderOf(Fragment &fragment, MLIRContext *context) {
  OpBuilder b(context);
  b.setInsertionPointToEnd(&fragment.block);
  return b;
}

/// Sums over the axes along which the shape was broadcast.
static Value sumToShape(OpBuilder &b, Location loc, Value value, ArrayRef<DimExpr> shape) {
  Shape from = shapeOf(value.getType());
  if (ArrayRef<DimExpr>(from) == shape)
    return value;
  int64_t missing = from.size() - shape.size();
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < int64_t(from.size()); ++axis)
    if (axis < missing || (shape[axis - missing].isConstant(1) && !from[axis].isConstant(1)))
      axes.push_back(axis);
  Value sum = SumOp::create(b, loc, value, b.getDenseI64ArrayAttr(axes), b.getBoolAttr(false));
  return ReshapeOp::create(b, loc, sum, DimsAttr::get(b.getContext(), shape));
}

Fragment *Scratch::gradientOf(Operation *op, const std::vector<bool> &isGiven,
                              const std::vector<bool> &wanted) {
  std::unique_ptr<Fragment> &fragment = gradients[{op, isGiven, wanted}];
  if (fragment)
    return fragment.get();
  fragment = std::make_unique<Fragment>();
  all.push_back(fragment.get());
  OpBuilder b = builderOf(*fragment, op->getContext());
  SmallVector<Value> resultGrads;
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    resultGrads.push_back(isGiven[i] ? fragment->block.addArgument(type, op->getLoc()) : Value());
  fragment->results = cast<DifferentiableOpInterface>(op).buildOperandGradients(b, resultGrads);
  for (auto [i, result] : llvm::enumerate(fragment->results)) {
    Value operand = op->getOperand(i);
    if (!wanted[i])
      result = Value();
    else if (result && isa<RankedTensorType>(operand.getType()))
      result = sumToShape(b, op->getLoc(), result, shapeOf(operand.getType()));
  }
  fragment->prune();
  return fragment.get();
}

Fragment *Scratch::sumOf(Type type, Location loc) {
  std::unique_ptr<Fragment> &fragment = sums[type.getAsOpaquePointer()];
  if (fragment)
    return fragment.get();
  fragment = std::make_unique<Fragment>();
  all.push_back(fragment.get());
  OpBuilder b = builderOf(*fragment, type.getContext());
  Value x = fragment->block.addArgument(type, loc), y = fragment->block.addArgument(type, loc);
  if (isa<ListType>(type))
    fragment->results = {ListSumOp::create(b, loc, x, y)};
  else
    fragment->results = {AddOp::create(b, loc, x, y)};
  return fragment.get();
}

Fragment *Scratch::rowsOf(Operation *gather) {
  std::unique_ptr<Fragment> &fragment = rows[gather];
  if (fragment)
    return fragment.get();
  fragment = std::make_unique<Fragment>();
  all.push_back(fragment.get());
  OpBuilder b = builderOf(*fragment, gather->getContext());
  Value gradient = fragment->block.addArgument(gather->getResult(0).getType(), gather->getLoc());
  auto [indices, rows] = cast<RowGatherOpInterface>(gather).buildRowGradient(b, gradient);
  fragment->results = {indices, rows};
  return fragment.get();
}

Scratch::~Scratch() {
  for (Fragment *fragment : llvm::reverse(all))
    fragment->block.dropAllReferences();
}

} // namespace tfc::reference
