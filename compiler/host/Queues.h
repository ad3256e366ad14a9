//===- Queues.h - Operations on queues ------------------------------------===//

#pragma once

#include "compiler/host/Addresses.h"

namespace tfc::host {

/// Builds operations on queues, which copy elements between a queue and the memory of values.
/// Waiting and failing are up to the runtime.
class Queues {
public:
  Queues(Context &context, SizeBuilder &sizes, Addresses &addresses)
      : context(context), sizes(sizes), addresses(addresses) {}

  void enqueue(dfg::EnqueueOp op);
  void enqueue(dfg::EnqueueManyOp op);
  void dequeue(dfg::DequeueOp op);
  void dequeue(dfg::DequeueManyOp op);
  void dequeue(dfg::DequeueUpToOp op);
  void measure(dfg::QueueSizeOp op);
  void close(dfg::QueueCloseOp op);

private:
  template <typename Op, typename... More>
  void transfer(mlir::Operation *op, mlir::FlatSymbolRefAttr queue, mlir::ValueRange values,
                const dfg::DimExpr &count, More... more);

  Context &context;
  SizeBuilder &sizes;
  Addresses &addresses;
};

} // namespace tfc::host
