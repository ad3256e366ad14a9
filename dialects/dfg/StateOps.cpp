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
