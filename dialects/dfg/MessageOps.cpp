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

bool needsRelease(SendOp send) {
  return send.getBufferCount() == 0 && !isRegisterType(send.getValue().getType()) &&
         !isa<BlockArgument>(send.getValue());
}

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
  // Values in the memory of the message, or computed from it where they are read.
  SmallVector<std::pair<Value, bool>> read{{receive.getValue(), true}};
  while (!read.empty()) {
    auto [value, isInPlace] = read.pop_back_val();
    for (Operation *user : value.getUsers()) {
      // Only what is in its memory has to stay until somebody else has read it.
      if (isa<AwaitReleaseOp>(user) && !isInPlace)
        continue;
      Operation *reader = block->findAncestorOpInBlock(*user);
      bool isFetch = isEntry && reader->hasTrait<OpTrait::IsTerminator>();
      if (!isFetch && last->isBeforeInBlock(reader))
        last = reader;
      bool isAlias = user->hasTrait<AliasRole>();
      if (isAlias || user->hasTrait<ViewRole>())
        for (Value result : user->getResults())
          read.emplace_back(result, isInPlace && isAlias);
    }
  }
  return last;
}

bool usesMessages(Operation *op) {
  return anyWithin(op, [](Operation *nested) { return slotOf(nested) || isa<CommitOp>(nested); });
}

} // namespace tfc::dfg
