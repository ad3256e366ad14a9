//===- StateOps.cpp - Variables -------------------------------------------===//
//
// Verifies that reads and assignments name a variable of their type, and declares their effects.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Resources.h"

using namespace mlir;
using namespace tfc::dfg;

/// Checks that `op` names a variable of type `type`.
static LogicalResult verifyAccess(Operation *op, FlatSymbolRefAttr name, Type type,
                                  SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, name);
  if (!variable)
    return op->emitOpError("expects the name of a variable, but got ") << name;
  if (variable.getType() != type)
    return op->emitOpError("expects ")
           << name << " to be " << toText(type) << ", but it is " << toText(variable.getType());
  return success();
}

//===----------------------------------------------------------------------===//
// VariableOp
//===----------------------------------------------------------------------===//

LogicalResult SliceAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr whole,
                                int64_t axis, int64_t first, int64_t step, int64_t size) {
  if (whole.empty())
    return emitError() << "a slice needs the name of a tensor";
  if (axis < 0 || first < 0 || step < 1 || size < 0)
    return emitError() << "expected an axis, a first element and a size that are not negative, and "
                          "a step of at least 1";
  return success();
}

LogicalResult VariableOp::verify() {
  SliceAttr slice = getSliceAttr();
  if (!slice)
    return success();
  RankedTensorType type = getTensorType();
  if (slice.getAxis() >= std::max<int64_t>(type.getRank(), 1))
    return emitOpError("expects its slice to be along one of its axes, but got axis ")
           << slice.getAxis();
  int64_t count = type.getRank() ? type.getDimSize(slice.getAxis()) : 1;
  if (count > slice.mostElements())
    return emitOpError("expects its slice to have ")
           << count << " elements along axis " << slice.getAxis() << ", but it has at most "
           << slice.mostElements();
  return success();
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// ReadOp
//===----------------------------------------------------------------------===//

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyAccess(*this, getVariableAttr(), getType(), symbols);
}

void ReadOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), getVariableAttr(), VariableResource::get());
}

//===----------------------------------------------------------------------===//
// AssignOp
//===----------------------------------------------------------------------===//

LogicalResult AssignOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyAccess(*this, getVariableAttr(), getType(), symbols);
}

void AssignOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), getVariableAttr(), VariableResource::get());
}
