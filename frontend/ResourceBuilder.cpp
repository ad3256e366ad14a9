// Variables, tapes, queues and datasets: declarations of a module, apart from the operations of its
// entries.

#include "frontend/ResourceBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc {

static SmallVector<StringRef> toTexts(ArrayRef<std::string> texts) {
  return to_vector_of<StringRef>(texts);
}

void ResourceBuilder::toDeclarations() {
  if (lastDeclaration)
    return builder.setInsertionPointAfter(lastDeclaration);
  auto entries = module.getOps<dfg::EntryOp>();
  if (entries.empty())
    builder.setInsertionPointToEnd(module.getBody());
  else
    builder.setInsertionPoint(*entries.begin());
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

void ResourceBuilder::createVariable(StringRef name, RankedTensorType type, bool isFrozen,
                                     StringRef formerly, Location location, dfg::SliceAttr slice) {
  OpBuilder::InsertionGuard guard(builder);
  toDeclarations();
  lastDeclaration = dfg::VariableOp::create(
      builder, location, builder.getStringAttr(name), TypeAttr::get(type),
      isFrozen ? builder.getUnitAttr() : UnitAttr(),
      formerly.empty() ? StringAttr() : builder.getStringAttr(formerly), slice);
}

Value ResourceBuilder::read(StringRef variable, RankedTensorType type, Location location) {
  return dfg::ReadOp::create(builder, location, type, variable);
}

Value ResourceBuilder::assign(StringRef variable, Value value, Location location) {
  return dfg::AssignOp::create(builder, location, value.getType(), variable, value);
}

//===----------------------------------------------------------------------===//
// Tapes
//===----------------------------------------------------------------------===//

void ResourceBuilder::createTape(StringRef name, RankedTensorType type, Location location) {
  OpBuilder::InsertionGuard guard(builder);
  toDeclarations();
  lastDeclaration = dfg::TapeOp::create(builder, location, builder.getStringAttr(name),
                                        TypeAttr::get(type), dfg::DimsAttr());
}

void ResourceBuilder::push(StringRef tape, Value value, Location location) {
  dfg::PushOp::create(builder, location, tape, value, dfg::ProbeAttr());
}

Value ResourceBuilder::pop(StringRef tape, RankedTensorType type, Location location) {
  return dfg::PopOp::create(builder, location, type, tape);
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

void ResourceBuilder::createQueue(StringRef name, ArrayRef<Type> components,
                                  ArrayRef<std::string> names, dfg::QueueKind kind,
                                  int64_t capacity, int64_t minReady, int64_t seed,
                                  Location location) {
  OpBuilder::InsertionGuard guard(builder);
  toDeclarations();
  SmallVector<Type> types(components);
  lastDeclaration = dfg::QueueOp::create(
      builder, location, builder.getStringAttr(name), builder.getTypeArrayAttr(types),
      builder.getStrArrayAttr(toTexts(names)), dfg::QueueKindAttr::get(builder.getContext(), kind),
      builder.getI64IntegerAttr(capacity), builder.getI64IntegerAttr(minReady),
      builder.getI64IntegerAttr(seed));
}

void ResourceBuilder::enqueue(StringRef queue, ValueRange values, bool isMany, Location location) {
  if (isMany)
    dfg::EnqueueManyOp::create(builder, location, queue, values);
  else
    dfg::EnqueueOp::create(builder, location, queue, values);
}

Operation *ResourceBuilder::dequeue(StringRef queue, TypeRange types, Location location) {
  return dfg::DequeueOp::create(builder, location, types, queue);
}

Operation *ResourceBuilder::dequeueMany(StringRef queue, TypeRange types, const dfg::DimExpr &count,
                                        bool isUpTo, Location location) {
  auto name = FlatSymbolRefAttr::get(builder.getContext(), queue);
  auto size = dfg::DimsAttr::get(builder.getContext(), {count});
  if (isUpTo)
    return dfg::DequeueUpToOp::create(builder, location, types, name, size);
  return dfg::DequeueManyOp::create(builder, location, types, name, size);
}

Value ResourceBuilder::queueSize(StringRef queue, Location location) {
  return dfg::QueueSizeOp::create(builder, location, dfg::tensorOf({}, builder.getI32Type()),
                                  queue);
}

void ResourceBuilder::closeQueue(StringRef queue, bool cancelsPending, Location location) {
  dfg::QueueCloseOp::create(builder, location, FlatSymbolRefAttr::get(builder.getContext(), queue),
                            builder.getBoolAttr(cancelsPending));
}

//===----------------------------------------------------------------------===//
// Datasets
//===----------------------------------------------------------------------===//

void ResourceBuilder::createDataset(StringRef name, ArrayRef<Type> components,
                                    ArrayRef<std::string> names, dfg::DatasetFormat format,
                                    ArrayRef<std::string> paths, int64_t skip, Location location) {
  OpBuilder::InsertionGuard guard(builder);
  toDeclarations();
  lastDeclaration = dfg::DatasetOp::create(
      builder, location, builder.getStringAttr(name), builder.getTypeArrayAttr(components),
      builder.getStrArrayAttr(toTexts(names)),
      dfg::DatasetFormatAttr::get(builder.getContext(), format),
      builder.getStrArrayAttr(toTexts(paths)), builder.getI64IntegerAttr(skip));
}

Operation *ResourceBuilder::readRows(StringRef dataset, TypeRange types, Value rows, Value next,
                                     Location location) {
  return dfg::ReadRowsOp::create(builder, location, types, dataset, rows, next);
}

Value ResourceBuilder::datasetSize(StringRef dataset, Location location) {
  return dfg::DatasetSizeOp::create(builder, location, dfg::tensorOf({}, builder.getI64Type()),
                                    dataset);
}

} // namespace tfc
