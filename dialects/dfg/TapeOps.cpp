//===- TapeOps.cpp - Values that a loop saves for another one -------------===//
//
// Verifies that pushes and pops name a tape of their type, and declares their effects.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Resources.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace tfc::dfg;

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static LogicalResult verifyAccess(Operation *op, FlatSymbolRefAttr name, Type type,
                                  SymbolTableCollection &symbols) {
  auto tape = symbols.lookupNearestSymbolFrom<TapeOp>(op, name);
  if (!tape)
    return op->emitOpError("expects the name of a tape, but got ") << name;
  if (tape.getType() != type)
    return op->emitOpError("expects ")
           << name << " to hold " << toText(type) << ", but it holds " << toText(tape.getType());
  if (tape.getCapacity() && tape.getCapacity()->getSizes().size() != 1)
    return op->emitOpError("expects ") << name << " to have one size as its capacity";
  return success();
}

//===----------------------------------------------------------------------===//
// PushOp
//===----------------------------------------------------------------------===//

LogicalResult PushOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto module = (*this)->getParentOfType<ModuleOp>();
  if (getProbe() && (!module || !DfgDialect::ProbeFunctionAttrHelper(getContext()).getAttr(module)))
    return emitOpError("expects a module with the function to which it shows its value");
  return verifyAccess(*this, getTapeAttr(), getValue().getType(), symbols);
}

void PushOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), getTapeAttr(), TapeResource::get());
}

//===----------------------------------------------------------------------===//
// PopOp
//===----------------------------------------------------------------------===//

LogicalResult PopOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyAccess(*this, getTapeAttr(), getValue().getType(), symbols);
}

void PopOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), getTapeAttr(), TapeResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), getTapeAttr(), TapeResource::get());
}
