//===- Adjoints.cpp - Gradients accumulated so far ------------------------===//
//
// Accumulates the gradient of each value, and decides in which form two gradients are added. It
// does not know which values need a gradient, nor in which order operations are visited.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Adjoints.h"
#include "dialects/dfg/Build.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

void GradientContext::eraseIfUnused(Operation *op) {
  SmallVector<Operation *> work{op};
  while (!work.empty()) {
    Operation *current = work.pop_back_val();
    if (!isOpTriviallyDead(current))
      continue;
    llvm::SmallSetVector<Operation *, 4> producers;
    for (Value operand : current->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && ops.contains(producer))
        producers.insert(producer);
    current->walk([&](Operation *nested) { ops.erase(nested); });
    current->erase();
    llvm::append_range(work, producers);
  }
}

Value tfc::zerosLike(OpBuilder &b, Value value) {
  auto list = dyn_cast<ListType>(value.getType());
  if (!list)
    return filled(b, value.getLoc(), cast<RankedTensorType>(value.getType()), 0.0);
  RankedTensorType element = list.getElementType();
  Value size = ListSizeOp::create(b, value.getLoc(), value);
  return ListCreateOp::create(b, value.getLoc(), size,
                              DimsAttr::get(b.getContext(), shapeOf(element)),
                              TypeAttr::get(element.getElementType()));
}

Value Adjoints::get(Value value) {
  Value gradient = lookup(value);
  return gradient ? gradient : zerosLike(b, value);
}

static bool isZeros(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getX();
  return value.getDefiningOp<ListCreateOp>() || matchPattern(value, m_AnyZeroFloat());
}

/// `sum` with `gradient` added to it in place, if `gradient` is zeros with an update at some
/// position; else null. The gradient of reading a part then costs as much as the part, however
/// large the whole is.
static Value addInPlace(OpBuilder &b, Value sum, Value gradient) {
  Location loc = gradient.getLoc();
  if (auto add = gradient.getDefiningOp<ListAddOp>(); add && isZeros(add.getList()))
    return ListAddOp::create(b, loc, sum, add.getIndex(), add.getValue());
  if (auto add = gradient.getDefiningOp<ScatterAddOp>(); add && isZeros(add.getX()))
    return ScatterAddOp::create(b, loc, sum, add.getIndices(), add.getUpdates(),
                                add.getOutsideAttr());
  return {};
}

/// Sums gradients where the value is computed, and not where its last reader is, whose device would
/// otherwise wait for the gradients of all readers.
static void placeWith(Value value, Operation *sum) {
  Operation *producer = value.getDefiningOp();
  if (!producer || !isOnDevice(producer))
    return;
  clearPlacement(sum);
  copyPlacement(producer, sum);
}

void Adjoints::add(Value value, Value gradient) {
  bool isList = isa<ListType>(value.getType());
  if (!isList)
    gradient = sumTo(b, gradient, shapeOf(value.getType()));
  Value &sum = sums[keyOf(value)];
  if (!sum) {
    sum = gradient;
  } else if (Value inPlace = addInPlace(b, sum, gradient)) {
    sum = inPlace;
    replaced.push_back(gradient.getDefiningOp());
  } else if (isList) {
    sum = ListSumOp::create(b, value.getLoc(), sum, gradient);
  } else {
    sum = AddOp::create(b, value.getLoc(), sum, gradient);
    placeWith(value, sum.getDefiningOp());
  }
}

void Adjoints::eraseReplaced() {
  for (Operation *op : replaced) {
    // Another value may have the same gradient, as the operands of a sum have.
    auto isHeld = [&](const auto &entry) { return entry.second.getDefiningOp() == op; };
    if (context.ops.contains(op) && llvm::none_of(sums, isHeld))
      context.eraseIfUnused(op);
  }
  replaced.clear();
}

Value Adjoints::move(Value value, Value to) {
  Value original = aliases.lookup(value);
  if (original) {
    aliases.erase(value);
    alias(to, original);
  } else if (Value gradient = lookup(value)) {
    sums.erase(value);
    set(to, gradient);
  }
  return original;
}
