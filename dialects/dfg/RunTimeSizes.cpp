//===- RunTimeSizes.cpp - Dependences on data-dependent sizes -------------===//
//
// Finds the operations that bind sizes which others mention only in their types. Passes that move
// or copy operations have to respect these dependences, although no operand shows them.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/RunTimeSizes.h"
#include "dialects/dfg/HostForm.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tfc::dfg {

RunTimeSizes::RunTimeSizes(Operation *root) {
  root->walk([&](BindSizeOp op) { binders[op.getName()].push_back(op); });
  if (!empty())
    root->walk([&](CheckOp op) { addGuard(op); });
}

/// Adds the names of sizes whose count is the value. Returns false if there are none.
static bool addNamesOfCount(Value value, NameSet &names) {
  bool isCount = false;
  for (Operation *user : value.getUsers())
    if (auto binder = dyn_cast<BindSizeOp>(user)) {
      names.insert(binder.getName());
      isCount = true;
    }
  return isCount;
}

/// Adds a check as a guard of each name that it is about, unless it reads anything but sizes,
/// counts and constants.
void RunTimeSizes::addGuard(CheckOp check) {
  llvm::SmallSetVector<Operation *, 8> parts;
  parts.insert(check);
  NameSet names;
  for (size_t i = 0; i < parts.size(); ++i)
    for (Value operand : parts[i]->getOperands()) {
      bool isCount = addNamesOfCount(operand, names);
      Operation *producer = operand.getDefiningOp();
      if (auto size = dyn_cast_if_present<SizeOp>(producer))
        for (const DimExpr &expr : size.getValue().getExprs())
          expr.collectSymbols(names);
      if (isCount)
        continue;
      bool isScalar =
          isa_and_present<ScalarOpInterface>(producer) && isRegisterType(operand.getType());
      if (!isScalar && !isa_and_present<SizeOp, ConstantOp>(producer))
        return;
      parts.insert(producer);
    }
  for (const std::string &name : names)
    if (binds(name))
      guards[name].push_back(check);
  partsOfGuards.insert_range(parts);
}

bool RunTimeSizes::bindsAnyOf(Operation *op) const {
  return !empty() && llvm::any_of(namesIn(op), [&](StringRef name) { return binds(name); });
}

/// The region whose operations can mention a size: nodes bind sizes for their whole graph.
static Region *scopeOf(BindSizeOp op) {
  auto node = dyn_cast<NodeOp>(op->getParentOp());
  return node ? node->getParentRegion() : op->getParentRegion();
}

BindSizeOp RunTimeSizes::find(StringRef name, Block *block) const {
  auto it = binders.find(name);
  if (it == binders.end())
    return {};
  BindSizeOp innermost;
  for (BindSizeOp op : it->second) {
    Region *region = scopeOf(op);
    if (region->isAncestor(block->getParent()) &&
        (!innermost || scopeOf(innermost)->isProperAncestor(region)))
      innermost = op;
  }
  return innermost;
}

BindSizeOp RunTimeSizes::findLast(const DimExpr &size, Block *block) const {
  SmallVector<std::string> names;
  size.collectSymbols(names);
  BindSizeOp last;
  for (StringRef name : names) {
    BindSizeOp binder = find(name, block);
    if (!binder)
      continue;
    Operation *around = last ? last->getBlock()->findAncestorOpInBlock(*binder) : nullptr;
    if (!last || (around && last->isBeforeInBlock(around)))
      last = binder;
  }
  return last;
}

SmallVector<std::string> RunTimeSizes::namesIn(Operation *op) {
  NameSet names;
  AttrTypeWalker walker;
  walker.addWalk([&](DimsAttr dims) {
    for (const DimExpr &size : dims.getExprs())
      size.collectSymbols(names);
  });
  for (Type type : op->getOperandTypes())
    walker.walk(type);
  for (Type type : op->getResultTypes())
    walker.walk(type);
  for (NamedAttribute attribute : op->getAttrs())
    walker.walk(attribute.getValue());
  return names.takeVector();
}

void RunTimeSizes::forEachBinder(Operation *op, function_ref<void(BindSizeOp)> visit) const {
  if (empty())
    return;
  llvm::SmallSetVector<Operation *, 4> found;
  op->walk([&](Operation *nested) {
    for (StringRef name : namesIn(nested)) {
      BindSizeOp binder = find(name, nested->getBlock());
      if (binder && !op->isAncestor(binder))
        found.insert(binder);
    }
  });
  for (Operation *binder : found)
    visit(cast<BindSizeOp>(binder));
}

/// Returns true for operations that compute scalars in registers from others.
static bool isInRegisters(Operation *op) {
  return op->getNumRegions() == 0 && llvm::all_of(op->getOperandTypes(), isRegisterType) &&
         llvm::all_of(op->getResultTypes(), isRegisterType);
}

void RunTimeSizes::forEachGuard(Operation *op, function_ref<void(CheckOp)> visit) const {
  if (guards.empty())
    return;
  llvm::SmallSetVector<Operation *, 4> found;
  op->walk([&](Operation *nested) {
    if (isInRegisters(nested))
      return;
    for (StringRef name : namesIn(nested)) {
      auto known = guards.find(name);
      if (known == guards.end())
        continue;
      for (CheckOp guard : known->second) {
        Operation *around = guard->getBlock()->findAncestorOpInBlock(*op);
        if (around && guard->isBeforeInBlock(around))
          found.insert(guard);
      }
    }
  });
  for (Operation *guard : found)
    visit(cast<CheckOp>(guard));
}

void RunTimeSizes::forEachPrerequisite(Operation *op, function_ref<void(Operation *)> visit) const {
  forEachBinder(op, visit);
  forEachGuard(op, visit);
}

/// The text about a size, its location and the names in it.
static Message sizeMessage(OpBuilder &b, BindSizeOp binder, const DimExpr &size,
                           const Twine &text) {
  Message message(b, binder.getLoc());
  message.text(text).namesIn(size).about("the size " + size.str() + sitePhrase(binder.getLoc()));
  return message;
}

Message negativeMessage(OpBuilder &b, BindSizeOp binder, const DimExpr &size) {
  return sizeMessage(b, binder, size, "is negative");
}

Message misfitMessage(OpBuilder &b, BindSizeOp binder, const SizeLimit &limit,
                      const DimExpr &number) {
  return sizeMessage(b, binder, number, misfitText(limit));
}

} // namespace tfc::dfg
