//===- Messages.cpp - The messages between the partitions of an entry -----===//
//
// Numbers messages and adds their sends. The receives are added by those who read them.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/Messages.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MessageOps.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::partition {

unsigned Messages::add(Value value, unsigned sender, unsigned receiver) {
  messages.push_back({value, sender, receiver});
  return messages.size() - 1;
}

ArrayAttr Messages::getSlots(MLIRContext *context) const {
  SmallVector<Attribute> slots;
  for (const Message &message : messages)
    slots.push_back(SlotAttr::get(context, message.sender, message.receiver));
  return ArrayAttr::get(context, slots);
}

/// Sets the insertion point after the operation that computes `value`, and the sends that are there
/// already.
static void setInsertionPointAfter(OpBuilder &b, Value value) {
  Block *block = value.getParentBlock();
  Operation *producer = value.getDefiningOp();
  auto next = producer ? std::next(producer->getIterator()) : block->begin();
  while (isa<SendOp>(*next))
    ++next;
  b.setInsertionPoint(block, next);
}

void Messages::addSends(unsigned sender, Block &body, const IRMapping &values) const {
  OpBuilder b(body.getParentOp());
  SmallVector<SendOp> inPlace;
  for (auto [slot, message] : llvm::enumerate(messages)) {
    if (message.sender != sender)
      continue;
    Value value = values.lookup(message.value);
    setInsertionPointAfter(b, value);
    auto send = SendOp::create(b, message.value.getLoc(), value, slot);
    if (needsRelease(send))
      inPlace.push_back(send);
  }
  b.setInsertionPoint(body.getTerminator());
  for (SendOp send : inPlace)
    AwaitReleaseOp::create(b, send.getLoc(), send.getValue(), send.getSlot());
}

} // namespace tfc::partition
