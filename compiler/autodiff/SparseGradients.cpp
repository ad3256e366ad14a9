//===- SparseGradients.cpp - Gradients that are rows ----------------------===//
//
// A sparse gradient is not summed: each gather contributes indices and rows, which
// are concatenated at the end. So they are apart from the adjoints.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/SparseGradients.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/Gradients.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

SparseGradients::SparseGradients(BackwardSweep &sweep) : sweep(sweep) {
  for (int64_t position : sweep.op.getSparse())
    parts.try_emplace(sweep.op.getXs()[position]);
}

/// A gather along the first axis of a sparse x contributes rows instead of a dense gradient. If no
/// gradient flows, these are zeros, because the type counts the rows of all gathers.
bool SparseGradients::collect(Operation *forward) {
  if (forward->getNumOperands() == 0)
    return false;
  auto it = parts.find(forward->getOperand(0));
  if (it == parts.end() || !sweep.context.sparseReaders.contains({sweep.op, forward}))
    return false;
  auto gather = cast<RowGatherOpInterface>(forward);
  Value gradient = sweep.adjoints.get(forward->getResult(0));
  auto [indices, rows] = gather.buildRowGradient(sweep.b, gradient);
  it->second.indices.push_back(indices);
  it->second.rows.push_back(rows);
  return true;
}

/// Concatenates the parts. Gathers that were removed after the types had been computed contribute
/// rows of zeros, with an index that is skipped.
LogicalResult SparseGradients::join(Value x, SmallVectorImpl<Value> &results) {
  OpBuilder &b = sweep.b;
  Location loc = sweep.op.getLoc();
  Parts &ofX = parts[x];
  DimExpr rest = shapeOf(sweep.op.getGrads()[results.size()].getType())[0];
  for (Value indices : ofX.indices)
    rest = rest - shapeOf(indices.getType())[0];
  if (rest.interval().first.value_or(-1) < 0)
    return sweep.op.emitOpError("expects a sparse gradient with a row for each that is gathered, "
                                "but its rows less those that are gathered are ")
           << rest.str();
  auto concatenate = [&](SmallVector<Value> values, double missing) -> Value {
    auto type = cast<RankedTensorType>(sweep.op.getGrads()[results.size()].getType());
    Shape shape = shapeOf(type);
    shape[0] = rest;
    if (!rest.isConstant(0))
      values.push_back(filled(b, loc, tensorOf(shape, type.getElementType()), missing));
    if (values.size() == 1)
      return values.front();
    return ConcatOp::create(b, loc, values, b.getI64IntegerAttr(0));
  };
  results.push_back(concatenate(ofX.indices, -1.0));
  results.push_back(concatenate(ofX.rows, 0.0));
  return success();
}
