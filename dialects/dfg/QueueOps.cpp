//===- QueueOps.cpp - Queues between calls and threads --------------------===//
//
// Verifies queues and the operations on them. These name a queue by its symbol, so the types of
// their elements are checked against its declaration instead of being inferred.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Resources.h"

using namespace mlir;
using namespace tfc::dfg;

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addEffects(Effects &effects, FlatSymbolRefAttr queue) {
  effects.emplace_back(MemoryEffects::Read::get(), queue, QueueResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), queue, QueueResource::get());
}

/// Checks that `op` names a queue whose elements, with the size `count` in front if there is one,
/// have the types.
static LogicalResult verifyAccess(Operation *op, FlatSymbolRefAttr name, TypeRange types,
                                  std::optional<DimExpr> count, SymbolTableCollection &symbols) {
  auto queue = symbols.lookupNearestSymbolFrom<QueueOp>(op, name);
  if (!queue)
    return op->emitOpError("expects the name of a queue, but got ") << name;
  SmallVector<RankedTensorType> expected = queue.getTensorTypes();
  if (expected.size() != types.size())
    return op->emitOpError("expects ")
           << expected.size() << " values for " << name << ", but got " << types.size();
  for (auto [component, type] : llvm::zip_equal(expected, types)) {
    Shape shape = shapeOf(component);
    if (count)
      shape.insert(shape.begin(), *count);
    RankedTensorType whole = tensorOf(shape, component.getElementType());
    if (whole != type)
      return op->emitOpError("expects ")
             << toText(whole) << " for " << name << ", but got " << toText(type);
  }
  return success();
}

static std::optional<DimExpr> leadingSize(TypeRange types) {
  if (types.empty())
    return std::nullopt;
  Shape shape = shapeOf(types.front());
  return shape.empty() ? std::optional<DimExpr>() : shape.front();
}

//===----------------------------------------------------------------------===//
// QueueOp
//===----------------------------------------------------------------------===//

SmallVector<RankedTensorType> QueueOp::getTensorTypes() {
  return llvm::map_to_vector(getComponents().getAsValueRange<TypeAttr>(),
                             [](Type type) { return cast<RankedTensorType>(type); });
}

LogicalResult QueueOp::verify() {
  if (!llvm::all_of(getComponents().getAsValueRange<TypeAttr>(), [](Type type) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        return tensor && tensor.hasStaticShape();
      }))
    return emitOpError("expects tensors of static shapes");
  if (getNames().size() != getComponents().size())
    return emitOpError("expects one name per component");
  SmallVector<RankedTensorType> types = getTensorTypes();
  if (getKind() == QueueKind::Priority &&
      (types.empty() || types.front() != tensorOf({}, IntegerType::get(getContext(), 64))))
    return emitOpError("expects an i64 as the first component of a priority queue");
  if (int64_t(getCapacity()) < 1)
    return emitOpError("expects a capacity of at least 1, but got ") << getCapacity();
  if (int64_t(getMinReady()) < 0 || int64_t(getMinReady()) > int64_t(getCapacity()))
    return emitOpError("expects to keep back from 0 to ")
           << getCapacity() << " elements, but got " << int64_t(getMinReady());
  return success();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

LogicalResult EnqueueOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyAccess(*this, getQueueAttr(), getValues().getTypes(), std::nullopt, symbols);
}

LogicalResult EnqueueManyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyAccess(*this, getQueueAttr(), getValues().getTypes(),
                      leadingSize(getValues().getTypes()).value_or(DimExpr(0)), symbols);
}

LogicalResult DequeueOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyAccess(*this, getQueueAttr(), getValues().getTypes(), std::nullopt, symbols);
}

LogicalResult DequeueManyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getCount().getSizes().size() != 1)
    return emitOpError("expects one size for count");
  return verifyAccess(*this, getQueueAttr(), getValues().getTypes(), getCount().getExprs().front(),
                      symbols);
}

LogicalResult DequeueUpToOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getCount().getSizes().size() != 1)
    return emitOpError("expects one size for count");
  if (getValues().empty() ||
      getValues().front().getType() != tensorOf({}, IntegerType::get(getContext(), 32)))
    return emitOpError("expects the number of elements, i32, as its first result");
  return verifyAccess(*this, getQueueAttr(), getValues().drop_front().getTypes(),
                      getCount().getExprs().front(), symbols);
}

LogicalResult QueueSizeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<QueueOp>(*this, getQueueAttr()))
    return emitOpError("expects the name of a queue, but got ") << getQueueAttr();
  if (getType() != tensorOf({}, IntegerType::get(getContext(), 32)))
    return emitOpError("expects a result of type i32");
  return success();
}

LogicalResult QueueCloseOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<QueueOp>(*this, getQueueAttr()))
    return emitOpError("expects the name of a queue, but got ") << getQueueAttr();
  return success();
}

void EnqueueOp::getEffects(Effects &effects) { addEffects(effects, getQueueAttr()); }
void EnqueueManyOp::getEffects(Effects &effects) { addEffects(effects, getQueueAttr()); }
void DequeueOp::getEffects(Effects &effects) { addEffects(effects, getQueueAttr()); }
void DequeueManyOp::getEffects(Effects &effects) { addEffects(effects, getQueueAttr()); }
void DequeueUpToOp::getEffects(Effects &effects) { addEffects(effects, getQueueAttr()); }
void QueueSizeOp::getEffects(Effects &effects) { addEffects(effects, getQueueAttr()); }
void QueueCloseOp::getEffects(Effects &effects) { addEffects(effects, getQueueAttr()); }
