//===- MessageOps.h - Messages between the devices of an entry ------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/MessageOps.h.inc"

namespace tfc::dfg {

/// Returns the slot of an operation on messages, or std::nullopt for other operations.
std::optional<unsigned> slotOf(mlir::Operation *op);

/// Returns true if the operation or one in its regions sends or receives messages.
bool usesMessages(mlir::Operation *op);

/// Returns true if the operation uses messages and may wait for another partition: all but sends
/// in the body of an entry.
bool waitsForMessages(mlir::Operation *op);

/// Returns true if a message is the address of memory that its partition may use again.
bool needsRelease(SendOp send);

/// Returns the last operation of the block that reads the value in the memory of its sender, or the
/// receive itself. Fetches are copied when it is received.
mlir::Operation *lastReaderOf(ReceiveOp receive);

} // namespace tfc::dfg
