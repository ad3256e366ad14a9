//===- MessageOps.cpp - Messages between the devices of an entry ----------===//
//
// Declares the effects of messages, which keep their order, and counts the buffers of sends.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/MessageOps.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/Resources.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tfc::dfg;

#define GET_OP_CLASSES
#include "dialects/dfg/MessageOps.cpp.inc"

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), MessageResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), MessageResource::get());
}

void SendOp::getEffects(Effects &effects) { addEffects(effects); }
void ReceiveOp::getEffects(Effects &effects) { addEffects(effects); }
void AwaitReleaseOp::getEffects(Effects &effects) { addEffects(effects); }
void CommitOp::getEffects(Effects &effects) { addEffects(effects); }

unsigned SendOp::getBufferCount() {
  if (isRegisterType(getValue().getType()) || isa<EntryOp>((*this)->getParentOp()))
    return 0;
  return (*this)->getParentOfType<WhileOp>() ? 2 : 1;
}

namespace tfc::dfg {

std::optional<unsigned> slotOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<unsigned>>(op)
      .Case<SendOp, ReceiveOp, AwaitReleaseOp>([](auto op) { return op.getSlot(); })
      .Default(std::nullopt);
}

bool waitsForMessages(Operation *op) {
  auto send = dyn_cast<SendOp>(op);
  return usesMessages(op) && !(send && isa<EntryOp>(op->getParentOp()));
}

Operation *lastReaderOf(ReceiveOp receive) {
  Operation *last = receive;
  if (receive.getCopied() || isRegisterType(receive.getType()))
    return last;
  Block *block = receive->getBlock();
  bool isEntry = isa<EntryOp>(block->getParentOp());
  SmallVector<Value> read{receive.getValue()};
  while (!read.empty())
    for (Operation *user : read.pop_back_val().getUsers()) {
      Operation *reader = block->findAncestorOpInBlock(*user);
      bool isFetch = isEntry && reader->hasTrait<OpTrait::IsTerminator>();
      if (!isFetch && last->isBeforeInBlock(reader))
        last = reader;
      if (user->hasTrait<ViewRole>() || user->hasTrait<AliasRole>())
        llvm::append_range(read, user->getResults());
    }
  return last;
}

bool usesMessages(Operation *op) {
  return anyWithin(op, [](Operation *nested) { return slotOf(nested) || isa<CommitOp>(nested); });
}

} // namespace tfc::dfg
