//===- Interpreter.cpp - Executing regions of the dfg dialect -------------===//
//
// Runs the operations of a call, keeps their values and decides when invalid data fail the call.
// Each family evaluates its own operations.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Interpreter.h"
#include "compiler/reference/Scratch.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

const Handlers::Handler *Handlers::find(StringRef name) const {
  auto found = handlers.find(name);
  return found == handlers.end() ? nullptr : &found->second;
}

const Handlers &getHandlers() {
  static const Handlers handlers = [] {
    Handlers all;
    addControl(all);
    addDataflow(all);
    addGradients(all);
    addLists(all);
    addQueues(all);
    addRunTimeSizes(all);
    addState(all);
    addStructure(all);
    return all;
  }();
  return handlers;
}

Interpreter::Interpreter(SymbolTable &symbols, const Options &options, State &state, Sizes sizes)
    : symbols(symbols), options(options), state(state), sizes(std::move(sizes)),
      scratch(std::make_unique<Scratch>()) {}

Interpreter::~Interpreter() = default;

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::run(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(run(&op)))
      return failure();
  return success();
}

/// Returns true if the oracle has no memory for a tensor of the type, or an element of a list.
static bool isBeyondMemory(Type type, const Sizes &sizes) {
  if (auto list = dyn_cast<ListType>(type))
    type = list.getElementType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  if (tensor.hasStaticShape())
    return isBeyondMemory(tensor.getShape());
  return isBeyondMemory(llvm::map_to_vector(
      shapeOf(tensor), [&](const DimExpr &size) { return sizeOf(size, sizes); }));
}

/// Returns true if an operation reads and writes each element once, or a few times.
static bool isLinear(Operation *op) {
  return isa<ScalarOpInterface>(op) || op->hasTrait<ViewRole>() || op->hasTrait<ParallelRole>() ||
         op->hasTrait<SelectionRole>() || op->hasTrait<ReductionRole>() ||
         op->hasTrait<UpdateRole>();
}

LogicalResult Interpreter::addWork(double amount) {
  // An operation that is refused takes no work.
  if (mostWork && work + amount > *mostWork)
    return fail(Status::Code::Internal, "too much work");
  work += amount;
  return success();
}

LogicalResult Interpreter::countVisits(size_t operations) {
  constexpr double kElements = 64; // take as long as finding an operation and its data
  return addWork(kElements * double(operations));
}

LogicalResult Interpreter::countElements(Operation *op) {
  double read = 0, combined = 1, written = 0;
  for (const DatumRef &input : get(op->getOperands())) {
    double elements = input && input->tensor ? double(input->tensor->size()) : 1;
    read += elements;
    combined *= elements;
  }
  for (Type type : op->getResultTypes()) {
    double count = 1;
    if (isa<RankedTensorType>(type))
      for (const DimExpr &size : shapeOf(type))
        count *= double(std::max<int64_t>(sizeOf(size, sizes), 0));
    written += count;
  }
  double elements = read + written;
  if (!isLinear(op)) {
    // Sums of products combine elements of the operands; windows are as large as attributes say.
    double extent = 1;
    for (NamedAttribute attribute : op->getAttrs())
      if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()))
        for (int64_t number : numbers.asArrayRef())
          extent *= std::max(std::abs(double(number)), 1.0);
    elements += extent * (combined + read * written);
  }
  return addWork(elements);
}

LogicalResult Interpreter::run(Operation *op) {
  if (mostWork && (failed(countVisits(1)) || failed(countElements(op))))
    return failure();
  for (Type type : op->getResultTypes())
    if (isBeyondMemory(type, sizes))
      return fail(Status::Code::OutOfMemory,
                  "the reference interpreter does not have enough memory for " + toText(type));
  if (const Handlers::Handler *handler = getHandlers().find(op->getName().getStringRef()))
    return (*handler)(op, *this);
  return evaluate(op);
}

/// Runs a function of tensors.
LogicalResult Interpreter::evaluate(Operation *op) {
  const Registry::Evaluator *evaluator = getRegistry().find(op->getName().getStringRef());
  if (!evaluator)
    return fail(Status::Code::Internal,
                "the reference interpreter cannot execute '" + op->getName().getStringRef() + "'");
  SmallVector<DatumRef> inputs = get(op->getOperands());
  SmallVector<const Tensor *> operands;
  for (const DatumRef &input : inputs) {
    if (input->failure) {
      refuse(op, inputs);
      return success();
    }
    operands.push_back(input->tensor.get());
  }
  Call call(op, operands, sizes);
  (*evaluator)(op, call);
  bool isInvalid = call.wasRefused();
  if (isInvalid && !options.checksAreApart && !isInGradient) {
    refuse(op, inputs);
    return success();
  }
  SmallVector<DatumRef> outputs;
  for (Tensor &result : call.takeResults()) {
    if (isInvalid)
      result.setUndetermined();
    outputs.push_back(make(std::move(result)));
  }
  publish(op, inputs, std::move(outputs));
  return success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<DatumRef> Interpreter::get(ValueRange values) const {
  return llvm::map_to_vector(values, [&](Value value) { return get(value); });
}

DatumRef Interpreter::make(Tensor tensor) {
  return std::make_shared<Datum>(Datum{std::make_shared<Tensor>(std::move(tensor)), {}, nullptr});
}

static TensorRef undeterminedCopy(const TensorRef &tensor) {
  auto copy = std::make_shared<Tensor>(*tensor);
  copy->setUndetermined();
  return copy;
}

static DatumRef undeterminedCopy(const DatumRef &datum) {
  auto copy = std::make_shared<Datum>(*datum);
  if (copy->tensor)
    copy->tensor = undeterminedCopy(copy->tensor);
  for (TensorRef &element : copy->list)
    element = undeterminedCopy(element);
  return copy;
}

SizesRef Interpreter::getSizes() {
  if (!copiedSizes)
    copiedSizes = std::make_shared<const Sizes>(sizes);
  return copiedSizes;
}

void Interpreter::setSizes(const SizesRef &other) {
  if (other == copiedSizes)
    return;
  sizes = *other;
  copiedSizes = other;
}

void Interpreter::bindSize(StringRef name, int64_t value) {
  sizes[name] = value;
  copiedSizes = nullptr;
}

void Interpreter::forward(ValueRange to, ArrayRef<DatumRef> from) {
  for (auto [value, datum] : llvm::zip_equal(to, from)) {
    DatumRef copy = isUndetermined() && datum ? undeterminedCopy(datum) : datum;
    if (isRecording && datum) {
      if (copy == datum)
        copy = std::make_shared<Datum>(*datum);
      records.push_back({nullptr, {datum}, {copy}, value.getType(), getSizes()});
    }
    set(value, copy);
  }
}

void Interpreter::publish(Operation *op, ArrayRef<DatumRef> inputs, SmallVector<DatumRef> outputs) {
  for (auto [result, output] : llvm::zip_equal(op->getResults(), outputs)) {
    if (isUndetermined() && output)
      output = undeterminedCopy(output);
    set(result, output);
  }
  notify(op);
  if (isRecording)
    records.push_back(
        {op, SmallVector<DatumRef>(inputs), get(op->getResults()), Type(), getSizes()});
}

void Interpreter::notify(Operation *op) {
  if (!options.onExecuted || isRepeating)
    return;
  SmallVector<const Tensor *> results;
  for (Value result : op->getResults()) {
    DatumRef datum = get(result);
    results.push_back(datum && !datum->failure ? datum->tensor.get() : nullptr);
  }
  auto replace = [&](unsigned i, Tensor value) { set(op->getResult(i), make(std::move(value))); };
  options.onExecuted({op, results, iterations, replace});
}

FailureOr<SmallVector<DatumRef>> Interpreter::repeat(Operation *op, ArrayRef<DatumRef> inputs) {
  SmallVector<std::pair<Value, DatumRef>> before;
  for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                                         SmallVector<Value>(op->getResults())))
    before.push_back({value, get(value)});
  for (auto [operand, input] : llvm::zip_equal(op->getOperands(), inputs))
    set(operand, input);
  bool wasRecording = std::exchange(isRecording, false);
  bool wasInGradient = std::exchange(isInGradient, true);
  bool wasRepeating = std::exchange(isRepeating, true);
  bool isOk = succeeded(run(op));
  isRepeating = wasRepeating;
  isInGradient = wasInGradient;
  isRecording = wasRecording;
  SmallVector<DatumRef> outputs = get(op->getResults());
  for (auto &[value, datum] : before)
    set(value, datum);
  if (!isOk)
    return failure();
  return outputs;
}

int64_t Interpreter::decide(Value value, bool &isDetermined) {
  const Tensor &number = tensor(value);
  isDetermined = number.isDetermined(0);
  if (!isDetermined)
    status.isDetermined = false;
  return number.integer(0);
}

//===----------------------------------------------------------------------===//
// Failure
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::fail(Status::Code code, const Twine &message) {
  status.code = code;
  status.message = message.str();
  return failure();
}

LogicalResult Interpreter::require(ArrayRef<DatumRef> data) {
  for (const DatumRef &datum : data) {
    if (!datum || !datum->failure)
      continue;
    bool isDetermined = status.isDetermined;
    status = *datum->failure;
    status.isDetermined &= isDetermined;
    return failure();
  }
  return success();
}

Status::Code codeOf(Failure failure) {
  switch (failure) {
  case Failure::OutOfRange:
    return Status::Code::OutOfRange;
  case Failure::InvalidArgument:
    return Status::Code::InvalidArgument;
  case Failure::FailedPrecondition:
    return Status::Code::FailedPrecondition;
  }
  llvm_unreachable("a status without a number");
}

std::string Interpreter::fill(function_ref<Message(OpBuilder &)> build) {
  Block block;
  OpBuilder b(symbols.getOp()->getContext());
  b.setInsertionPointToEnd(&block);
  Message message = build(b);
  llvm::DenseMap<Value, DatumRef> values;
  for (Operation &op : block) {
    SmallVector<DatumRef> inputs;
    for (Value operand : op.getOperands())
      inputs.push_back(values.contains(operand) ? values[operand] : get(operand));
    FailureOr<SmallVector<DatumRef>> outputs = repeat(&op, inputs);
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      values[result] = succeeded(outputs) ? (*outputs)[i] : nullptr;
  }
  SmallVector<int64_t> numbers;
  for (Value value : message.getValues()) {
    DatumRef datum = values.contains(value) ? values[value] : get(value);
    numbers.push_back(datum && datum->tensor ? datum->tensor->integer(0) : 0);
  }
  std::string text = fillFormat(message.getFormat(), numbers);
  // Later operations use results of earlier ones.
  while (!block.empty())
    block.back().erase();
  return text;
}

std::string Interpreter::messageOf(CheckedOpInterface op, ArrayRef<DatumRef> inputs) {
  SmallVector<DatumRef> before = get(op->getOperands());
  for (auto [operand, input] : llvm::zip_equal(op->getOperands(), inputs))
    set(operand, input);
  std::string text = fill([&](OpBuilder &b) {
    std::optional<DataCheck> check = buildDataCheck(b, op);
    return check ? check->message : Message(b, op.getLoc()).text("has invalid data");
  });
  for (auto [operand, datum] : llvm::zip_equal(op->getOperands(), before))
    set(operand, datum);
  return text;
}

void Interpreter::refuse(Operation *op, ArrayRef<DatumRef> inputs) {
  std::shared_ptr<const Status> reason;
  for (const DatumRef &input : inputs)
    if (input && input->failure && !reason)
      reason = input->failure;
  if (auto checked = dyn_cast<CheckedOpInterface>(op); checked && !reason) {
    reason = std::make_shared<Status>(
        Status{codeOf(checked.getCheckStatus()), messageOf(checked, inputs), !isUndetermined()});
    if (options.onRefused)
      options.onRefused(*reason);
  }
  if (!reason)
    reason = std::make_shared<Status>(
        Status{Status::Code::Internal, "'" + op->getName().getStringRef().str() + "' was refused"});
  for (Value result : op->getResults())
    set(result, std::make_shared<Datum>(Datum{nullptr, {}, reason}));
  notify(op);
}

void Interpreter::blur(Region &region) {
  region.walk([&](AssignOp op) {
    DatumRef &variable = state.variables[op.getVariable().str()];
    variable = undeterminedCopy(variable);
  });
}

} // namespace tfc::reference
