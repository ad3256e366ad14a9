//===- Saved.cpp - Forward values used by backward regions ----------------===//
//
// Decides which forward values a backward block recomputes and which it loads. Whether a saved
// value is the result of a branch or on a tape is left to the caller.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Saved.h"
#include "dialects/dfg/Regions.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

/// Returns true if an operation computes no elements: each one is an element of the operand, or
/// follows from its position.
static bool onlyMovesElements(Operation *op) {
  return op->hasTrait<ViewRole>() || op->hasTrait<AliasRole>();
}

/// Returns true if recomputing an operation is cheaper than saving its result: elementwise
/// operations are fused into the kernels of their readers, and reading a part costs as much as
/// loading it.
static bool isCheap(Operation *op) {
  if (op->getNumRegions() > 0 || !isMemoryEffectFree(op))
    return false;
  return onlyMovesElements(op) || op->hasTrait<OpTrait::ConstantLike>() ||
         isa<ScalarOpInterface>(op) || isa<RowGatherOpInterface, ListReadOp>(op);
}

/// Memory that a tensor takes, in bits.
static DimExpr sizeOf(Value value) {
  return elementCount(shapeOf(value.getType())) *
         DimExpr(elementTypeOf(value.getType()).getIntOrFloatBitWidth());
}

/// Returns true if it pays to save the operand instead of the operation's result.
static bool isSmaller(Value operand, Operation *op) {
  DimExpr saving = sizeOf(op->getResult(0)) - sizeOf(operand);
  return isNonNegative(onlyMovesElements(op) ? saving : saving - DimExpr(1)) == true;
}

OpBuilder tfc::builderAfter(Value value, OpBuilder::Listener *listener) {
  OpBuilder b(value.getContext(), listener);
  b.setInsertionPointAfterValue(value);
  return b;
}

Saved::Saved(Block &forward, Block &backward, GradientsOp gradients, OpBuilder::Listener *listener)
    : forward(forward), backward(backward), gradients(gradients), listener(listener) {
  saveSizesOfLists();
  collectBinders();
  collectNeeded();
}

bool Saved::isForeign(Value value) const {
  return forward.getParent()->isAncestor(value.getParentRegion());
}

/// A list changes from iteration to iteration and is not saved, but its size may be.
void Saved::saveSizesOfLists() {
  SmallVector<ListSizeOp> sizes;
  backward.walk([&](ListSizeOp op) {
    if (isForeign(op.getList()))
      sizes.push_back(op);
  });
  DenseMap<Value, Value> forwardSizes;
  for (ListSizeOp op : sizes) {
    Value &size = forwardSizes[op.getList()];
    if (!size) {
      OpBuilder b = builderAfter(op.getList(), listener);
      size = ListSizeOp::create(b, op.getLoc(), op.getList());
    }
    op.getSize().replaceAllUsesWith(size);
    op.erase();
  }
}

/// Types of values that the backward block uses may mention data-dependent sizes: the block binds
/// these again, with the same numbers, unless it computes them itself.
void Saved::collectBinders() {
  RunTimeSizes known(backward.getParentOp());
  for (auto binder : forward.getOps<BindSizeOp>())
    if (!known.find(binder.getName(), &backward))
      binders.push_back(binder);
}

void Saved::collectNeeded() {
  llvm::SmallSetVector<Value, 16> values;
  backward.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isForeign(operand) && !isa<ListType>(operand.getType()))
        values.insert(operand);
  });
  if (values.empty())
    binders.clear();
  for (BindSizeOp binder : binders)
    if (isForeign(binder.getCount()))
      values.insert(binder.getCount());
  needed = values.takeVector();
  auto comesBefore = [](Value lhs, Value rhs) {
    auto lhsArgument = dyn_cast<BlockArgument>(lhs), rhsArgument = dyn_cast<BlockArgument>(rhs);
    if (lhsArgument || rhsArgument)
      return lhsArgument &&
             (!rhsArgument || lhsArgument.getArgNumber() < rhsArgument.getArgNumber());
    auto lhsResult = cast<OpResult>(lhs), rhsResult = cast<OpResult>(rhs);
    if (lhsResult.getOwner() == rhsResult.getOwner())
      return lhsResult.getResultNumber() < rhsResult.getResultNumber();
    return lhsResult.getOwner()->isBeforeInBlock(rhsResult.getOwner());
  };
  llvm::sort(needed, comesBefore);
}

/// Returns whether the backward block can compute the value from available values, if that follows
/// without looking at its operands.
std::optional<bool> Saved::knownAvailability(Value value) const {
  // Lists are not saved, so the list must be visible in the outermost block.
  if (isa<ListType>(value.getType()))
    return value.getParentRegion()->isAncestor(gradients->getParentRegion());
  if (!isForeign(value) || mapping.contains(value))
    return true;
  if (auto it = available.find(value); it != available.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  return op && isCheap(op) ? std::nullopt : std::optional(false);
}

/// Returns true if the backward block can compute the value from available values. Chains of
/// operations may be long, so this does not recurse.
bool Saved::isAvailable(Value value) {
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value next = work.back();
    if (knownAvailability(next)) {
      work.pop_back();
      continue;
    }
    OperandRange operands = next.getDefiningOp()->getOperands();
    auto unknown = llvm::make_filter_range(
        operands, [&](Value operand) { return !knownAvailability(operand); });
    if (llvm::any_of(operands, [&](Value v) { return knownAvailability(v) == false; }))
      available[next] = false;
    else if (unknown.empty())
      available[next] = true;
    else
      llvm::append_range(work, unknown);
  }
  return *knownAvailability(value);
}

ArrayRef<Value> Saved::choose() {
  for (Value value : needed)
    choose(value);
  return saved.getArrayRef();
}

void Saved::choose(Value value) {
  while (value && !isAvailable(value) && !saved.contains(value))
    value = chooseOrGetSmaller(value);
}

/// Saves the value, unless it is better computed from others: returns the one of these that is not
/// available, or null.
Value Saved::chooseOrGetSmaller(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && isCheap(op)) {
    llvm::SmallSetVector<Value, 2> missing;
    for (Value operand : op->getOperands())
      if (!isAvailable(operand) && !saved.contains(operand))
        missing.insert(operand);
    if (missing.empty())
      return {};
    if (missing.size() == 1 && isa<RankedTensorType>(missing[0].getType()) &&
        isSmaller(missing[0], op))
      return missing[0];
  }
  saved.insert(value);
  return {};
}

void Saved::load(Operation *prelude, function_ref<Value(OpBuilder &, Value)> load) {
  OpBuilder b(backward.getParentOp()->getContext(), listener);
  if (prelude)
    b.setInsertionPointAfter(prelude);
  else
    b.setInsertionPointToStart(&backward);
  for (unsigned bound = 0; bound <= binders.size(); ++bound) {
    for (Value value : saved)
      if (bindersBefore(value) == bound)
        mapping.map(value, load(b, value));
    if (bound == binders.size())
      break;
    compute(b, binders[bound].getCount());
    cast<BindSizeOp>(b.clone(*binders[bound], mapping)).setChecked(true);
  }
  for (Value value : needed)
    value.replaceUsesWithIf(compute(b, value), [&](OpOperand &use) {
      return backward.getParent()->isAncestor(use.getOwner()->getParentRegion());
    });
}

/// The number of sizes that must be bound again before the value can be loaded.
unsigned Saved::bindersBefore(Value value) const {
  SmallVector<std::string> names;
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType()); tensor && !binders.empty())
    for (const DimExpr &size : shapeOf(tensor))
      size.collectSymbols(names);
  for (unsigned i = binders.size(); i > 0; --i)
    if (llvm::is_contained(names, BindSizeOp(binders[i - 1]).getName()))
      return i;
  return 0;
}

Value Saved::compute(OpBuilder &b, Value value) {
  return cloneWithSources(b, value, mapping, [&](Value other) { return !isForeign(other); });
}
