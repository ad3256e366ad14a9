//===- Tapes.cpp - What loops keep for their backward loops -----------------===//

#include "compiler/autodiff/Differentiator.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

FlatSymbolRefAttr Differentiator::makeTape(Location loc, Type type) {
  OpBuilder atEntry(op->getParentOfType<EntryOp>());
  DimsAttr size;
  if (capacity)
    size = DimsAttr::get(op.getContext(), {*capacity});
  auto tape =
      TapeOp::create(atEntry, loc, atEntry.getStringAttr("saved"), TypeAttr::get(type), size);
  return FlatSymbolRefAttr::get(context.symbols.insert(tape));
}

/// Pushes a value where it is computed, so that nothing has to keep it longer.
FlatSymbolRefAttr Differentiator::pushOnTape(Value value) {
  FlatSymbolRefAttr tape = makeTape(value.getLoc(), value.getType());
  OpBuilder behind = builderBehind(value, &context);
  PushOp::create(behind, value.getLoc(), tape, value);
  return tape;
}

Value Differentiator::popFromTape(OpBuilder &b, Value like, FlatSymbolRefAttr tape) {
  return PopOp::create(b, like.getLoc(), like.getType(), tape);
}

void Differentiator::saveOnTapes(Saved &saved, Operation *prelude) {
  DenseMap<Value, FlatSymbolRefAttr> tapes;
  for (Value value : saved.choose())
    tapes[value] = pushOnTape(value);
  saved.load(prelude,
             [&](OpBuilder &b, Value value) { return popFromTape(b, value, tapes.lookup(value)); });
}

/// The tape that carries the gradients of what is popped from `tape` to where it was pushed.
FlatSymbolRefAttr Differentiator::tapeOfGradients(FlatSymbolRefAttr tape) {
  FlatSymbolRefAttr &result = gradientTapes[tape.getAttr()];
  if (!result) {
    auto original = context.symbols.lookup<TapeOp>(tape.getAttr());
    OpBuilder behind(original->getBlock(), std::next(Block::iterator(original)));
    auto created = TapeOp::create(behind, op.getLoc(), original.getSymNameAttr(),
                                  original.getTypeAttr(), original.getCapacityAttr());
    result = FlatSymbolRefAttr::get(context.symbols.insert(created));
  }
  return result;
}

/// What was pushed last is popped first, so the gradients of pops come in the reverse order of the
/// pushes, as a stack has them.
void Differentiator::visitPush(PushOp push) {
  accumulate(push.getValue(), popFromTape(b, push.getValue(), tapeOfGradients(push.getTapeAttr())));
}

void Differentiator::visitPop(PopOp pop) {
  PushOp::create(b, pop.getLoc(), tapeOfGradients(pop.getTapeAttr()), adjoints.get(pop.getValue()));
}
