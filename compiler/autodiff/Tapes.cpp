//===- Tapes.cpp - Values saved by loops for their backward loops ---------===//
//
// Creates the tapes on which loops keep forward values, and those that carry gradients back from
// the pops of a forward tape to its pushes. The values to keep are chosen in Saved.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Tapes.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

FlatSymbolRefAttr GradientTapes::make(Location loc, Type type) {
  OpBuilder atEntry(sweep.op->getParentOfType<EntryOp>());
  DimsAttr size;
  if (sweep.capacity)
    size = DimsAttr::get(loc.getContext(), {*sweep.capacity});
  auto tape =
      TapeOp::create(atEntry, loc, atEntry.getStringAttr("saved"), TypeAttr::get(type), size);
  return FlatSymbolRefAttr::get(sweep.context.symbols.insert(tape));
}

/// Pushes a value where it is computed, so that its lifetime ends there.
FlatSymbolRefAttr GradientTapes::push(Value value) {
  FlatSymbolRefAttr tape = make(value.getLoc(), value.getType());
  // On another device the value would cross twice.
  if (Operation *producer = value.getDefiningOp(); producer && isOnDevice(producer))
    copyPlacement(producer, sweep.context.symbols.lookup(tape.getAttr()));
  OpBuilder after = builderAfter(value, &sweep.context);
  PushOp::create(after, value.getLoc(), tape, value, ProbeAttr());
  return tape;
}

Value GradientTapes::pop(OpBuilder &b, Value like, FlatSymbolRefAttr tape) {
  return PopOp::create(b, like.getLoc(), like.getType(), tape);
}

void GradientTapes::save(Saved &saved, Operation *prelude) {
  DenseMap<Value, FlatSymbolRefAttr> tapes;
  for (Value value : saved.choose())
    tapes[value] = push(value);
  saved.load(prelude,
             [&](OpBuilder &b, Value value) { return pop(b, value, tapes.lookup(value)); });
}

/// The tape that carries the gradients of values popped from `tape` back to their pushes.
FlatSymbolRefAttr GradientTapes::ofGradients(FlatSymbolRefAttr tape) {
  FlatSymbolRefAttr &result = gradientTapes[tape.getAttr()];
  if (!result) {
    SymbolTable &symbols = sweep.context.symbols;
    auto original = symbols.lookup<TapeOp>(tape.getAttr());
    OpBuilder after(original->getBlock(), std::next(Block::iterator(original)));
    auto created = TapeOp::create(after, sweep.op.getLoc(), original.getSymNameAttr(),
                                  original.getTypeAttr(), original.getCapacityAttr());
    result = FlatSymbolRefAttr::get(symbols.insert(created));
  }
  return result;
}

/// The last pushed value is popped first, so the gradients of pops arrive in the reverse order of
/// the pushes, as on a stack.
void GradientTapes::visit(PushOp op) {
  sweep.accumulate(op.getValue(), pop(sweep.b, op.getValue(), ofGradients(op.getTapeAttr())));
}

void GradientTapes::visit(PopOp op) {
  PushOp::create(sweep.b, op.getLoc(), ofGradients(op.getTapeAttr()),
                 sweep.adjoints.get(op.getValue()), ProbeAttr());
}
