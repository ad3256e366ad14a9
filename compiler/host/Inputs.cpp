// Builds reads of datasets and feeds: calls of the runtime with the number of the dataset or feed,
// and the addresses of row numbers and of values.

#include "compiler/host/Inputs.h"
#include "dialects/dfg/DataChecks.h"
#include "dialects/dfg/Dtypes.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

Value Inputs::countOf(Value value) { return sizes.build(elementCount(shapeOf(value.getType()))); }

void Inputs::read(ReadRowsOp op) {
  SmallVector<Value> places;
  for (Value value : op.getValues())
    places.push_back(addresses.of(rootOf(value)));
  Value rows = addresses.of(rootOf(op.getRows())), next, nextCount;
  if (op.getNext()) {
    next = addresses.of(rootOf(op.getNext()));
    nextCount = countOf(op.getNext());
  }
  rt::ReadRowsOp::create(context.b, context.loc, context.frame,
                         context.module.datasetNumber(op.getDatasetAttr()), places, rows,
                         countOf(op.getRows()), next, nextCount, subjectOf(op));
}

void Inputs::measure(DatasetSizeOp op) {
  rt::DatasetSizeOp::create(context.b, context.loc, context.frame,
                            context.module.datasetNumber(op.getDatasetAttr()),
                            addresses.of(op.getSize()), subjectOf(op));
}

void Inputs::copy(OwnFeedOp op) {
  Value bytes = sizes.multiply(countOf(op.getValue()),
                               sizes.constant(dtypeOf(elementTypeOf(op.getType())).bytes));
  rt::OwnFeedOp::create(context.b, context.loc, context.frame, op.getNumber(),
                        addresses.of(op.getValue()), bytes, subjectOf(op));
}
