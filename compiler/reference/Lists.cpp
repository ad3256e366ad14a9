//===- Lists.cpp - Sequences of tensors -----------------------------------===//
//
// Executes operations on lists. They are handlers and not evaluators, which work on tensors only.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Interpreter.h"
#include "compiler/reference/Pointwise.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

using List = std::vector<TensorRef>;

/// The initial element of a list.
static TensorRef zeroElement(Type listType, const Sizes &sizes) {
  RankedTensorType type = cast<ListType>(listType).getElementType();
  SmallVector<int64_t> shape;
  for (const DimExpr &size : shapeOf(type))
    shape.push_back(std::max<int64_t>(sizeOf(size, sizes), 0));
  return std::make_shared<Tensor>(type.getElementType(), shape);
}

static TensorRef undetermined(const TensorRef &tensor) {
  auto copy = std::make_shared<Tensor>(*tensor);
  copy->setUndetermined();
  return copy;
}

static DatumRef makeList(List list) {
  return std::make_shared<Datum>(Datum{nullptr, std::move(list), nullptr});
}

/// Runs `compute` unless an operand is missing because of invalid data; a null result means invalid
/// data.
static LogicalResult runOn(Operation *op, Interpreter &interpreter,
                           llvm::function_ref<DatumRef(ArrayRef<DatumRef>)> compute) {
  SmallVector<DatumRef> inputs = interpreter.get(op->getOperands());
  bool isInvalid = llvm::any_of(inputs, [](const DatumRef &input) { return bool(input->failure); });
  DatumRef output = isInvalid ? nullptr : compute(inputs);
  if (output)
    interpreter.publish(op, inputs, {output});
  else
    interpreter.refuse(op, inputs);
  return success();
}

/// Returns true if invalid data fail the call, false if they are ignored and yield zeros.
static bool isStrict(const Interpreter &interpreter) {
  return !interpreter.options.checksAreApart && !interpreter.isInGradient;
}

/// Makes all elements undetermined if the position is.
static void blurUnless(bool isDetermined, List &list) {
  for (TensorRef &element : list)
    if (!isDetermined)
      element = undetermined(element);
}

static LogicalResult runCreate(ListCreateOp op, Interpreter &interpreter) {
  DatumRef size = interpreter.get(op.getSize());
  if (int64_t length = size->failure ? 0 : size->tensor->integer(0); length > kMostElements)
    return interpreter.fail(Status::Code::OutOfMemory,
                            "not enough memory for a list of " + Twine(length) + " elements");
  return runOn(op, interpreter, [&](ArrayRef<DatumRef> inputs) {
    int64_t size = std::max<int64_t>(inputs[0]->tensor->integer(0), 0);
    List list(size, zeroElement(op.getType(), interpreter.sizes));
    blurUnless(inputs[0]->tensor->isDetermined(), list);
    return makeList(std::move(list));
  });
}

static LogicalResult runSize(ListSizeOp op, Interpreter &interpreter) {
  return runOn(op, interpreter, [&](ArrayRef<DatumRef> inputs) {
    Tensor size(elementTypeOf(op.getType()), {});
    size.setInteger(0, inputs[0]->list.size());
    return Interpreter::make(std::move(size));
  });
}

static LogicalResult runRead(ListReadOp op, Interpreter &interpreter) {
  return runOn(op, interpreter, [&](ArrayRef<DatumRef> inputs) -> DatumRef {
    const List &list = inputs[0]->list;
    int64_t index = inputs[1]->tensor->integer(0);
    bool isInside = index >= 0 && index < int64_t(list.size());
    if (!isInside && isStrict(interpreter))
      return nullptr;
    TensorRef element =
        isInside ? list[index] : zeroElement(op.getList().getType(), interpreter.sizes);
    if (!inputs[1]->tensor->isDetermined())
      element = undetermined(element);
    return std::make_shared<Datum>(Datum{element, {}, nullptr});
  });
}

/// Replaces an element by the result of `combine` on it; the list `mayGrow` by one.
static LogicalResult change(Operation *op, Interpreter &interpreter, bool mayGrow,
                            llvm::function_ref<TensorRef(const TensorRef &)> combine) {
  return runOn(op, interpreter, [&](ArrayRef<DatumRef> inputs) -> DatumRef {
    List list = inputs[0]->list;
    int64_t index = inputs[1]->tensor->integer(0), size = list.size();
    bool isInside = index >= 0 && index < size + mayGrow;
    if (!isInside && isStrict(interpreter))
      return nullptr;
    if (index == size && mayGrow)
      list.push_back(zeroElement(op->getResult(0).getType(), interpreter.sizes));
    if (isInside)
      list[index] = combine(list[index]);
    blurUnless(inputs[1]->tensor->isDetermined(), list);
    return makeList(std::move(list));
  });
}

static TensorRef addTensors(const Tensor &x, const Tensor &y) {
  auto sum = std::make_shared<Tensor>(x);
  for (int64_t i = 0; i < x.size(); ++i) {
    if (!x.isFloat()) {
      sum->setInteger(i, int64_t(uint64_t(x.integer(i)) + uint64_t(y.integer(i))),
                      x.isDetermined(i) && y.isDetermined(i));
      continue;
    }
    sum->setRounded(i, add(x.real(i), y.real(i)), 0.5);
  }
  return sum;
}

static LogicalResult runWrite(ListWriteOp op, Interpreter &interpreter) {
  return change(op, interpreter, /*mayGrow=*/true,
                [&](const TensorRef &) { return interpreter.get(op.getValue())->tensor; });
}

static LogicalResult runAdd(ListAddOp op, Interpreter &interpreter) {
  return change(op, interpreter, /*mayGrow=*/false, [&](const TensorRef &old) {
    return addTensors(*old, interpreter.tensor(op.getValue()));
  });
}

static LogicalResult runSum(ListSumOp op, Interpreter &interpreter) {
  return runOn(op, interpreter, [&](ArrayRef<DatumRef> inputs) {
    List list = inputs[0]->list;
    const List &other = inputs[1]->list;
    list.resize(std::max(list.size(), other.size()));
    for (size_t i = 0; i < other.size(); ++i)
      list[i] = list[i] ? addTensors(*list[i], *other[i]) : other[i];
    return makeList(std::move(list));
  });
}

/// The gradient of a list that grew counts as that of its first elements.
static LogicalResult runStack(ListStackOp op, Interpreter &interpreter) {
  return runOn(op, interpreter, [&](ArrayRef<DatumRef> inputs) -> DatumRef {
    const List &list = inputs[0]->list;
    int64_t size = sizeOf(op.getSize().getExprs().front(), interpreter.sizes);
    if (int64_t(list.size()) != size && isStrict(interpreter))
      return nullptr;
    TensorRef zero = zeroElement(op.getList().getType(), interpreter.sizes);
    SmallVector<int64_t> shape = {size};
    llvm::append_range(shape, zero->getShape());
    Tensor stacked(zero->getElementType(), shape);
    for (int64_t i = 0, next = 0; i < size; ++i) {
      const Tensor &element = i < int64_t(list.size()) ? *list[i] : *zero;
      for (int64_t k = 0; k < element.size(); ++k)
        stacked.copy(next++, element, k);
    }
    return Interpreter::make(std::move(stacked));
  });
}

static LogicalResult runUnstack(ListUnstackOp op, Interpreter &interpreter) {
  return runOn(op, interpreter, [&](ArrayRef<DatumRef> inputs) {
    const Tensor &x = *inputs[0]->tensor;
    List list;
    for (int64_t i = 0; i < x.getShape()[0]; ++i) {
      auto element = std::make_shared<Tensor>(x.getElementType(), x.getShape().drop_front());
      for (int64_t k = 0; k < element->size(); ++k)
        element->copy(k, x, i * element->size() + k);
      list.push_back(std::move(element));
    }
    return makeList(std::move(list));
  });
}

void addLists(Handlers &handlers) {
  handlers.add<ListCreateOp>(runCreate);
  handlers.add<ListSizeOp>(runSize);
  handlers.add<ListReadOp>(runRead);
  handlers.add<ListWriteOp>(runWrite);
  handlers.add<ListAddOp>(runAdd);
  handlers.add<ListSumOp>(runSum);
  handlers.add<ListStackOp>(runStack);
  handlers.add<ListUnstackOp>(runUnstack);
}

} // namespace tfc::reference
