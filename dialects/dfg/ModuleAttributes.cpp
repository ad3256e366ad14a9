// Attributes of the dialect on operations of other dialects: properties of a module's code, and the
// names of feeds and fetches. They are verified by the dialect, because no operation of its own
// carries them.

#include "dialects/dfg/Dfg.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace tfc::dfg;

static LogicalResult verifyWeights(Operation *op, Attribute attribute) {
  auto weights = dyn_cast<ArrayAttr>(attribute);
  auto isWeight = [](Attribute weight) {
    return isa<DenseElementsAttr, DenseResourceElementsAttr>(weight) &&
           isDtype(cast<ElementsAttr>(weight).getElementType());
  };
  if (!weights || !llvm::all_of(weights, isWeight))
    return op->emitOpError("expects tensors as weights");
  for (Attribute weight : weights)
    if (!hasData(cast<ElementsAttr>(weight)))
      return op->emitOpError("expects the data of ")
             << cast<ElementsAttr>(weight).getType() << " in a resource";
  return success();
}

static LogicalResult verifyChunks(Operation *op, Attribute attribute) {
  constexpr int64_t kMost = 1 << 20;
  auto count = dyn_cast<IntegerAttr>(attribute);
  if (count && count.getType().isSignlessInteger(32) && count.getInt() >= 0 &&
      count.getInt() <= kMost)
    return success();
  return op->emitOpError("expects a number of chunks up to ") << kMost << ", but got " << attribute;
}

static LogicalResult verifyProbeFunction(Operation *op, Attribute attribute) {
  auto address = dyn_cast<IntegerAttr>(attribute);
  if (address && address.getType().isSignlessInteger(64))
    return success();
  return op->emitOpError("expects the address of a function, but got ") << attribute;
}

LogicalResult DfgDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  using Verifier = LogicalResult (*)(Operation *, Attribute);
  static constexpr std::pair<StringLiteral, Verifier> kOfModules[] = {
      {WeightsAttrHelper::getNameStr(), verifyWeights},
      {ChunksAttrHelper::getNameStr(), verifyChunks},
      {ProbeFunctionAttrHelper::getNameStr(), verifyProbeFunction}};
  for (auto [name, verify] : kOfModules) {
    if (attribute.getName() != name)
      continue;
    if (!isa<ModuleOp>(op))
      return op->emitOpError("cannot have the attribute '")
             << name << "': it is an attribute of modules";
    return verify(op, attribute.getValue());
  }
  return success();
}

static LogicalResult verifyValueAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != "dfg.name" || isa<StringAttr>(attribute.getValue()))
    return success();
  return op->emitOpError("expects a string as 'dfg.name', but got ") << attribute.getValue();
}

LogicalResult DfgDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                   NamedAttribute attribute) {
  return verifyValueAttribute(op, attribute);
}

LogicalResult DfgDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                      NamedAttribute attribute) {
  return verifyValueAttribute(op, attribute);
}
