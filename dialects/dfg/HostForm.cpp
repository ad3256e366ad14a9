//===- HostForm.cpp - Operations that the host function runs --------------===//
//
// Defines which operations and values of an entry the host function handles itself. It is in the
// dialect because several stages depend on it, and no stage includes another one's headers.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MessageOps.h"
#include "dialects/dfg/Resources.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tfc::dfg {

std::optional<DimExpr> sizeInLaunch(AffineExpr expr, ArrayRef<DimExpr> sizes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return DimExpr(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbol.getPosition() < sizes.size() ? std::optional(sizes[symbol.getPosition()])
                                               : std::nullopt;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<DimExpr> lhs = sizeInLaunch(binary.getLHS(), sizes);
  std::optional<DimExpr> rhs = sizeInLaunch(binary.getRHS(), sizes);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *lhs + *rhs;
  case AffineExprKind::Mul:
    return *lhs * *rhs;
  case AffineExprKind::Mod:
    return DimExpr::mod(*lhs, *rhs);
  case AffineExprKind::FloorDiv:
    return DimExpr::floorDiv(*lhs, *rhs);
  default:
    return DimExpr::floorDiv(*lhs + *rhs - DimExpr(1), *rhs);
  }
}

bool isRegisterType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && !tensor.getElementType().isF16() &&
         !tensor.getElementType().isBF16();
}

static constexpr llvm::StringLiteral kInRegister = DfgDialect::InRegisterAttrHelper::getNameStr();

void putInRegister(Operation *op) { op->setAttr(kInRegister, UnitAttr::get(op->getContext())); }
bool isInRegister(Operation *op) { return op->hasAttr(kInRegister); }

bool isHostConstant(Operation *op) {
  return isa<ConstantOp, SizeOp>(op) && isRegisterType(op->getResult(0).getType());
}

bool anyWithin(Operation *op, function_ref<bool(Operation *)> holds) {
  return op
      ->walk([&](Operation *nested) {
        return holds(nested) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool usesLists(Operation *op) {
  auto isList = [](Type type) { return isa<ListType>(type); };
  return llvm::any_of(op->getOperandTypes(), isList) || llvm::any_of(op->getResultTypes(), isList);
}

bool takesRegister(OpOperand &use) {
  Operation *reader = use.getOwner();
  if (isInRegister(reader) || reader->getNumRegions() > 0 || reader->hasTrait<RegisterReaderRole>())
    return true;
  // These are positions and sizes of lists, not elements.
  return usesLists(reader) && use.getOperandNumber() < 2;
}

/// Returns true if the operation itself has an effect on one of the resources.
static bool uses(Operation *op, llvm::ArrayRef<SideEffects::Resource *> resources) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (interface)
    interface.getEffects(effects);
  return llvm::any_of(effects, [&](const MemoryEffects::EffectInstance &effect) {
    return llvm::is_contained(resources, effect.getResource());
  });
}

static bool usesTapeOrQueue(Operation *op) {
  return uses(op, {TapeResource::get(), QueueResource::get()});
}

bool hasOrderedEffects(Operation *op) {
  return anyWithin(op, [](Operation *nested) {
    return usesTapeOrQueue(nested) || uses(nested, MessageResource::get());
  });
}

bool usesQueues(Operation *op) {
  return anyWithin(op, [](Operation *nested) { return uses(nested, QueueResource::get()); });
}

bool readsInput(Operation *op) { return uses(op, {DatasetResource::get(), FeedResource::get()}); }

/// Returns true if the operation creates or extends a list, for which there may be no memory.
static bool growsLists(Operation *op) {
  return llvm::any_of(op->getResultTypes(), [](Type type) { return isa<ListType>(type); });
}

bool canFail(Operation *op) {
  return anyWithin(op, [](Operation *nested) {
    return isa<CheckOp, CommitOp>(nested) || usesTapeOrQueue(nested) || readsInput(nested) ||
           growsLists(nested);
  });
}

void forEachRead(Operation *op, function_ref<void(Value)> visit) {
  for (Value operand : op->getOperands())
    visit(operand);
  if (op->getNumRegions() == 0)
    return;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    visit(value);
}

} // namespace tfc::dfg
