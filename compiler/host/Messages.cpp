// Builds the messages of a partition. A received value is read in the sender's memory, so it is
// released as soon as the last step of the block that reads it has run.

#include "compiler/host/Messages.h"
#include "dialects/dfg/Cluster.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

Messages::Messages(Context &context, SizeBuilder &sizes, Addresses &addresses, Scalars &scalars,
                   Copies &copies)
    : context(context), sizes(sizes), addresses(addresses), scalars(scalars), copies(copies),
      hasTasks(!Cluster::of(context.entry->getParentOfType<ModuleOp>()).isEmpty()) {}

//===----------------------------------------------------------------------===//
// Scalars as 64 bits
//===----------------------------------------------------------------------===//

static Value toBits(OpBuilder &b, Location loc, Value scalar) {
  Type type = scalar.getType();
  if (isa<FloatType>(type)) {
    type = b.getIntegerType(type.getIntOrFloatBitWidth());
    scalar = arith::BitcastOp::create(b, loc, type, scalar);
  }
  return type.isInteger(64) ? scalar
                            : arith::ExtUIOp::create(b, loc, b.getI64Type(), scalar).getResult();
}

static Value fromBits(OpBuilder &b, Location loc, Value bits, Type type) {
  auto integer = b.getIntegerType(type.getIntOrFloatBitWidth());
  if (!integer.isInteger(64))
    bits = arith::TruncIOp::create(b, loc, integer, bits);
  return isa<FloatType>(type) ? arith::BitcastOp::create(b, loc, type, bits).getResult() : bits;
}

//===----------------------------------------------------------------------===//
// Sends
//===----------------------------------------------------------------------===//

/// Returns the address of the buffer for the next message.
Value Messages::bufferOf(SendOp op) {
  auto slot = op->getAttrOfType<rt::SlotAttr>(rt::kScratchAttr);
  if (!slot) {
    context.error(op) << "expects memory for its buffers, which 'tfc-allocate-arena' assigns";
    return LLVM::ZeroOp::create(context.b, context.loc, context.pointer);
  }
  Value first = addresses.arena(slot);
  if (op.getBufferCount() == 1)
    return first;
  Value number = rt::NextBufferOp::create(context.b, context.loc, context.b.getI32Type(),
                                          context.frame, op.getSlot());
  number = arith::ExtUIOp::create(context.b, context.loc, context.b.getI64Type(), number);
  Value bytes = sizes.build(context.info.atMost(sendBufferBytes(op)));
  return context.offset(first, arith::MulIOp::create(context.b, context.loc, number, bytes));
}

void Messages::send(SendOp op) {
  if (context.isRemote && !isRegisterType(op.getValue().getType())) {
    Value root = rootOf(op.getValue());
    rt::DeviceSendOp::create(context.b, context.loc, context.frame, op.getSlot(),
                             addresses.of(root), sizes.build(bytesOf(root.getType())));
    return;
  }
  Value value;
  if (isRegisterType(op.getValue().getType())) {
    value = toBits(context.b, context.loc, scalars.get(op.getValue()));
  } else if (op.getBufferCount() > 0) {
    value = bufferOf(op);
    copies.copy(value, rootOf(op.getValue()));
  } else {
    value = addresses.of(rootOf(op.getValue()));
  }
  // In one process the receiver reads the memory of the sender.
  Value bytes;
  if (!value.getType().isInteger(64) && hasTasks)
    bytes = sizes.build(bytesOf(rootOf(op.getValue()).getType()));
  rt::SendOp::create(context.b, context.loc, context.frame, op.getSlot(), value, bytes);
}

void Messages::awaitRelease(AwaitReleaseOp op) {
  // The receiver reads a copy.
  if (context.isRemote)
    return;
  rt::AwaitReleaseOp::create(context.b, context.loc, context.frame, op.getSlot());
}

void Messages::commit() { rt::CommitOp::create(context.b, context.loc, context.frame); }

//===----------------------------------------------------------------------===//
// Receives
//===----------------------------------------------------------------------===//

void Messages::receive(ReceiveOp op) {
  bool isScalar = isRegister(op.getValue());
  Type type = isScalar ? Type(context.b.getI64Type()) : context.pointer;
  Value value = rt::ReceiveOp::create(context.b, context.loc, type, context.frame, op.getSlot());
  if (isScalar)
    return scalars.set(op.getValue(), fromBits(context.b, context.loc, value,
                                               registerType(op.getValue().getType())));
  if (context.isRemote) {
    rt::DeviceUploadOp::create(context.b, context.loc, context.frame, addresses.of(op.getValue()),
                               value, sizes.build(bytesOf(op.getValue().getType())));
    return;
  }
  if (op.getCopied())
    return copies.copy(addresses.of(op.getValue()), value, op.getValue());
  addresses.set(op.getValue(), value);
}

void Messages::begin(Block &block) {
  DenseMap<Value, Operation *> lastReaders;
  for (auto receive : block.getOps<ReceiveOp>())
    lastReaders[receive.getValue()] = receive;
  if (lastReaders.empty())
    return;
  bool isEntry = isa<EntryOp>(block.getParentOp());
  for (Operation &op : block)
    if (isStep(&op) || (op.hasTrait<OpTrait::IsTerminator>() && !isEntry))
      forEachRead(&op, [&](Value value) {
        auto known = lastReaders.find(rootOf(value));
        if (known == lastReaders.end() || isRegister(known->first))
          return;
        if (!known->first.getDefiningOp<ReceiveOp>().getCopied())
          known->second = &op;
      });
  for (auto receive : block.getOps<ReceiveOp>())
    slots[lastReaders.lookup(receive.getValue())].push_back(receive.getSlot());
}

void Messages::releaseAfter(Operation *step) {
  auto known = slots.find(step);
  if (known == slots.end())
    return;
  for (unsigned slot : known->second)
    rt::ReleaseOp::create(context.b, context.loc, context.frame, slot);
}
