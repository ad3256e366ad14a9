//===- Messages.h - Messages between partitions ---------------------------===//

#pragma once

#include "compiler/host/Copies.h"
#include "compiler/host/Scalars.h"

namespace tfc::host {

/// Builds the messages of a partition. Scalars are sent as they are, other values as addresses.
class Messages {
public:
  Messages(Context &context, SizeBuilder &sizes, Addresses &addresses, Scalars &scalars,
           Copies &copies);

  void send(dfg::SendOp op);
  void receive(dfg::ReceiveOp op);
  void awaitRelease(dfg::AwaitReleaseOp op);
  void commit();

  /// Finds the last reader of each message that is received in the block.
  void begin(mlir::Block &block);
  /// Releases the messages that `step` was the last to read, or the terminator of a block.
  void releaseAfter(mlir::Operation *step);

private:
  mlir::Value bufferOf(dfg::SendOp op);

  Context &context;
  SizeBuilder &sizes;
  Addresses &addresses;
  Scalars &scalars;
  Copies &copies;
  bool hasTasks; // receivers may be in other processes
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> slots; // by the last reader
};

} // namespace tfc::host
