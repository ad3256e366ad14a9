// Builds reads of files, which pass the number of a dataset, that of each row, and the addresses of
// values to the runtime.

#include "compiler/host/Datasets.h"
#include "dialects/dfg/DataChecks.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

Value Datasets::countOf(Value numbers) {
  return sizes.build(elementCount(shapeOf(numbers.getType())));
}

void Datasets::read(ReadRowsOp op) {
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

void Datasets::measure(DatasetSizeOp op) {
  rt::DatasetSizeOp::create(context.b, context.loc, context.frame,
                            context.module.datasetNumber(op.getDatasetAttr()),
                            addresses.of(op.getSize()), subjectOf(op));
}
