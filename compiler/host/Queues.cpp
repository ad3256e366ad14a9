// Builds operations on queues, which pass the number of a queue and the addresses of values to the
// runtime.

#include "compiler/host/Queues.h"
#include "dialects/dfg/DataChecks.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

/// Moves `count` elements between the queue and the values. Everything built so far runs before it,
/// so it is known whether variables have been read. This may be wrong in later iterations of a
/// loop, but then the call has used the queue before.
template <typename Op, typename... More>
void Queues::transfer(Operation *op, FlatSymbolRefAttr queue, ValueRange values,
                      const DimExpr &count, More... more) {
  bool isLate = addresses.usesVariables();
  SmallVector<Value> places;
  for (Value value : values)
    places.push_back(addresses.of(rootOf(value)));
  Op::create(context.b, context.loc, context.frame, context.module.queueNumber(queue), places,
             sizes.build(count), isLate, subjectOf(op), more...);
}

void Queues::enqueue(EnqueueOp op) {
  transfer<rt::EnqueueOp>(op, op.getQueueAttr(), op.getValues(), DimExpr(1));
}

void Queues::enqueue(EnqueueManyOp op) {
  DimExpr count = op.getValues().empty() ? DimExpr(0) : shapeOf(op.getValues()[0].getType())[0];
  transfer<rt::EnqueueOp>(op, op.getQueueAttr(), op.getValues(), count);
}

void Queues::dequeue(DequeueOp op) {
  transfer<rt::DequeueOp>(op, op.getQueueAttr(), op.getValues(), DimExpr(1));
}

void Queues::dequeue(DequeueManyOp op) {
  transfer<rt::DequeueOp>(op, op.getQueueAttr(), op.getValues(), op.getCount().getExprs().front());
}

void Queues::dequeue(DequeueUpToOp op) {
  Value taken = addresses.of(op.getValues().front());
  transfer<rt::DequeueUpToOp>(op, op.getQueueAttr(), op.getValues().drop_front(),
                              op.getCount().getExprs().front(), taken);
}

void Queues::measure(QueueSizeOp op) {
  Value size = rt::QueueSizeOp::create(context.b, context.loc, context.frame,
                                       context.module.queueNumber(op.getQueueAttr()));
  LLVM::StoreOp::create(context.b, context.loc, size, addresses.of(op.getSize()));
}

void Queues::close(QueueCloseOp op) {
  rt::QueueCloseOp::create(context.b, context.loc, context.frame,
                           context.module.queueNumber(op.getQueueAttr()), op.getCancelPending());
}
