//===- HostQueues.cpp - Operations on queues --------------------------------===//
//
// Elements are copied between a queue and the memory of the values. The runtime
// waits and fails; which of both, the call does not know, so a result that is
// not 0 ends it.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/RunFunction.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::memory;

/// The addresses of the values' memory, in an array on the stack.
Value RunFunction::addressesOf(ValueRange values) {
  Value list = stackArray(std::max<size_t>(values.size(), 1));
  for (auto [i, value] : llvm::enumerate(values)) {
    Value place = LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(), list,
                                      ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(b, loc, pointerTo(rootOf(value)), place);
  }
  return list;
}

/// Whether what has been emitted so far, and so ran before, reads variables. In the second
/// iteration of a loop it may be wrong, but then the call has used the queue before.
bool RunFunction::readsVariables() const {
  return llvm::any_of(fields, [](auto &known) {
    auto [which, index] = known.first;
    return which == Field::Variables && index >= 0;
  });
}

/// Calls `name` with the frame, the queue's number, and more.
LLVM::CallOp RunFunction::callQueue(StringRef name, Type result, FlatSymbolRefAttr queue,
                                    ArrayRef<Value> more) {
  SmallVector<Value> arguments{frame, constant32(host.queueNumber(queue))};
  llvm::append_range(arguments, more);
  auto function = host.runtime(name, result, llvm::to_vector(ValueRange(arguments).getTypes()));
  return LLVM::CallOp::create(b, loc, function, arguments);
}

/// `count` elements from or to the values.
void RunFunction::moveElements(StringRef name, FlatSymbolRefAttr queue, ValueRange values,
                               const DimExpr &count, Value taken) {
  Value late = constant32(readsVariables());
  SmallVector<Value> arguments{addressesOf(values), sizes->build(count)};
  if (taken)
    arguments.push_back(taken);
  arguments.push_back(late);
  returnUnlessOk(callQueue(name, b.getI32Type(), queue, arguments).getResult());
}

void RunFunction::enqueue(EnqueueOp op) {
  moveElements("tfc_rt_enqueue", op.getQueueAttr(), op.getValues(), DimExpr(1));
}

void RunFunction::enqueue(EnqueueManyOp op) {
  DimExpr count = op.getValues().empty() ? DimExpr(0) : shapeOf(op.getValues()[0].getType())[0];
  moveElements("tfc_rt_enqueue", op.getQueueAttr(), op.getValues(), count);
}

void RunFunction::dequeue(DequeueOp op) {
  moveElements("tfc_rt_dequeue", op.getQueueAttr(), op.getValues(), DimExpr(1));
}

void RunFunction::dequeue(DequeueManyOp op) {
  moveElements("tfc_rt_dequeue", op.getQueueAttr(), op.getValues(),
               op.getCount().getExprs().front());
}

void RunFunction::dequeue(DequeueUpToOp op) {
  moveElements("tfc_rt_dequeue_up_to", op.getQueueAttr(), op.getValues().drop_front(),
               op.getCount().getExprs().front(), pointerTo(op.getValues().front()));
}

void RunFunction::measure(QueueSizeOp op) {
  Value size = callQueue("tfc_rt_queue_size", b.getI32Type(), op.getQueueAttr(), {}).getResult();
  LLVM::StoreOp::create(b, loc, size, pointerTo(op.getSize()));
}

void RunFunction::close(QueueCloseOp op) {
  callQueue("tfc_rt_queue_close", LLVM::LLVMVoidType::get(b.getContext()), op.getQueueAttr(),
            {constant32(op.getCancelPending())});
}
