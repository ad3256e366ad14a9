//===- Queues.cpp - Queues, as one handle sees them -----------------------===//
//
// There are no other handles, so an operation that would wait fails like a wait that no handle can
// end.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Interpreter.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

namespace {
/// A queue and its declaration.
struct Access {
  Access(StringRef name, Interpreter &interpreter)
      : declaration(cast<QueueOp>(interpreter.symbols.lookup(name))),
        queue(interpreter.state.queues[name.str()]), interpreter(interpreter) {}

  bool isShuffled() { return declaration.getKind() == QueueKind::Shuffle; }
  int64_t size() { return queue.elements.size(); }
  int64_t keptBack() { return isShuffled() && !queue.isClosed ? declaration.getMinReady() : 0; }
  int64_t available() { return std::max<int64_t>(size() - keptBack(), 0); }

  LogicalResult put(Queue::Element element);
  LogicalResult canTake(int64_t count, bool upTo);
  Queue::Element take();
  LogicalResult closed(const Twine &rest) {
    return interpreter.fail(Status::Code::Closed,
                            "queue '" + declaration.getSymName() + "' is closed" + rest);
  }

  QueueOp declaration;
  Queue &queue;
  Interpreter &interpreter;
};
} // namespace

LogicalResult Access::put(Queue::Element element) {
  if (queue.isClosed)
    return closed("");
  if (size() >= int64_t(declaration.getCapacity()))
    return interpreter.fail(Status::Code::FailedPrecondition,
                            "queue '" + declaration.getSymName() +
                                "' is full, and no other handle can take from it");
  queue.elements.push_back(std::move(element));
  return success();
}

/// Succeeds if `count` elements are available, or, with `upTo`, fewer in a closed queue.
LogicalResult Access::canTake(int64_t count, bool upTo) {
  if (count <= available() || (queue.isClosed && upTo && size() > 0))
    return success();
  int64_t most = int64_t(declaration.getCapacity()) - keptBack();
  std::string name = declaration.getSymName().str();
  if (count > most && !(upTo && queue.isClosed))
    return interpreter.fail(Status::Code::OutOfRange,
                            "queue '" + name + "' returns at most " + Twine(most) +
                                " elements at once, but got " + Twine(count));
  if (queue.isClosed)
    return closed(" and holds " + Twine(size()) + " of " + Twine(count) + " elements");
  return interpreter.fail(Status::Code::FailedPrecondition,
                          "queue '" + name + "' can return " + Twine(available()) + " of " +
                              Twine(count) + " elements, and no other handle can put more into it");
}

/// SplitMix64 of the seed and the number of the draw, scaled.
static int64_t drawBelow(int64_t bound, uint64_t seed, uint64_t draw) {
  uint64_t x = seed * 0xd1342543de82ef95u + draw * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return int64_t((static_cast<unsigned __int128>(x) * uint64_t(bound)) >> 64);
}

Queue::Element Access::take() {
  std::vector<Queue::Element> &elements = queue.elements;
  size_t position = 0;
  if (isShuffled()) { // the last element replaces the drawn one
    position = drawBelow(size(), declaration.getSeed(), ++queue.draws);
    std::swap(elements[position], elements.back());
    position = elements.size() - 1;
  } else if (declaration.getKind() == QueueKind::Priority) {
    auto isBefore = [](const Queue::Element &a, const Queue::Element &b) {
      return a[0]->integer(0) < b[0]->integer(0);
    };
    position = std::min_element(elements.begin(), elements.end(), isBefore) - elements.begin();
  }
  Queue::Element element = std::move(elements[position]);
  elements.erase(elements.begin() + position);
  return element;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static LogicalResult runEnqueue(EnqueueOp op, Interpreter &interpreter) {
  SmallVector<DatumRef> values = interpreter.get(op.getValues());
  if (failed(interpreter.require(values)))
    return failure();
  Queue::Element element;
  for (const DatumRef &value : values)
    element.push_back(value->tensor);
  return Access(op.getQueue(), interpreter).put(std::move(element));
}

static TensorRef rowOf(const Tensor &x, int64_t row) {
  auto result = std::make_shared<Tensor>(x.getElementType(), x.getShape().drop_front());
  for (int64_t i = 0; i < result->size(); ++i)
    result->copy(i, x, row * result->size() + i);
  return result;
}

static LogicalResult runEnqueueMany(EnqueueManyOp op, Interpreter &interpreter) {
  SmallVector<DatumRef> values = interpreter.get(op.getValues());
  if (failed(interpreter.require(values)))
    return failure();
  Access access(op.getQueue(), interpreter);
  for (int64_t row = 0; row < values[0]->tensor->getShape()[0]; ++row) {
    Queue::Element element;
    for (const DatumRef &value : values)
      element.push_back(rowOf(*value->tensor, row));
    if (failed(access.put(std::move(element))))
      return failure();
  }
  return success();
}

static LogicalResult runDequeue(DequeueOp op, Interpreter &interpreter) {
  Access access(op.getQueue(), interpreter);
  if (failed(access.canTake(1, /*upTo=*/false)))
    return failure();
  SmallVector<DatumRef> outputs;
  for (TensorRef &component : access.take())
    outputs.push_back(std::make_shared<Datum>(Datum{component, {}, nullptr}));
  interpreter.publish(op, {}, std::move(outputs));
  return success();
}

/// Takes `count` elements, as rows of the tensors; `taken` of them exist.
static SmallVector<Tensor> takeRows(Access &access, TypeRange types, int64_t taken,
                                    const Sizes &sizes) {
  SmallVector<Tensor> rows;
  for (Type type : types) {
    SmallVector<int64_t> shape;
    for (const DimExpr &size : shapeOf(type))
      shape.push_back(sizeOf(size, sizes));
    rows.emplace_back(elementTypeOf(type), shape);
  }
  for (int64_t row = 0; row < taken; ++row) {
    Queue::Element element = access.take();
    for (auto [tensor, component] : llvm::zip_equal(rows, element))
      for (int64_t i = 0; i < component->size(); ++i)
        tensor.copy(row * component->size() + i, *component, i);
  }
  return rows;
}

static LogicalResult runDequeueMany(DequeueManyOp op, Interpreter &interpreter) {
  Access access(op.getQueue(), interpreter);
  int64_t count = sizeOf(op.getCount().getExprs().front(), interpreter.sizes);
  if (count > 0 && failed(access.canTake(count, /*upTo=*/false)))
    return failure();
  SmallVector<DatumRef> outputs;
  for (Tensor &rows : takeRows(access, op.getResultTypes(), count, interpreter.sizes))
    outputs.push_back(Interpreter::make(std::move(rows)));
  interpreter.publish(op, {}, std::move(outputs));
  return success();
}

static LogicalResult runDequeueUpTo(DequeueUpToOp op, Interpreter &interpreter) {
  Access access(op.getQueue(), interpreter);
  int64_t count = sizeOf(op.getCount().getExprs().front(), interpreter.sizes);
  if (count > 0 && failed(access.canTake(count, /*upTo=*/true)))
    return failure();
  int64_t taken = std::min(count, access.size());
  SmallVector<Type> types(op.getResultTypes());
  Tensor number(elementTypeOf(op.getResultTypes().front()), {});
  number.setInteger(0, taken);
  SmallVector<DatumRef> outputs = {Interpreter::make(std::move(number))};
  for (Tensor &rows : takeRows(access, ArrayRef(types).drop_front(), taken, interpreter.sizes))
    outputs.push_back(Interpreter::make(std::move(rows)));
  interpreter.publish(op, {}, std::move(outputs));
  return success();
}

static LogicalResult runQueueSize(QueueSizeOp op, Interpreter &interpreter) {
  Tensor size(elementTypeOf(op.getType()), {});
  size.setInteger(0, Access(op.getQueue(), interpreter).size());
  interpreter.publish(op, {}, {Interpreter::make(std::move(size))});
  return success();
}

static LogicalResult runClose(QueueCloseOp op, Interpreter &interpreter) {
  Access(op.getQueue(), interpreter).queue.isClosed = true;
  return success();
}

void addQueues(Handlers &handlers) {
  handlers.add<EnqueueOp>(runEnqueue);
  handlers.add<EnqueueManyOp>(runEnqueueMany);
  handlers.add<DequeueOp>(runDequeue);
  handlers.add<DequeueManyOp>(runDequeueMany);
  handlers.add<DequeueUpToOp>(runDequeueUpTo);
  handlers.add<QueueSizeOp>(runQueueSize);
  handlers.add<QueueCloseOp>(runClose);
}

} // namespace tfc::reference
