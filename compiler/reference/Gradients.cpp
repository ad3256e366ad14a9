//===- Gradients.cpp - Gradients from a record of the execution -----------===//
//
// While an entry with gradients runs, each executed operation is recorded with its data, including
// those in branches and loops. `dfg.gradients` walks the record backwards and executes the
// operations of which the operations' own gradients consist. These are recorded too, which provides
// second derivatives, and no code here deals with loops. The address of a datum identifies a value.
//
// Zeros flow along paths to the loss that the graph has but the call did not
// execute. They have an effect only if a derivative on the path is not finite.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Gradients.h"
#include "compiler/reference/GradientCheck.h"
#include "compiler/reference/Scratch.h"
#include "compiler/reference/Ways.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

namespace {
class GradientInterpreter {
public:
  GradientInterpreter(GradientsOp op, Interpreter &interpreter)
      : op(op), interpreter(interpreter), ways(op), end(interpreter.records.size()) {}

  LogicalResult run();

private:
  void findVaried();
  void findGathers();
  LogicalResult visit(size_t number);
  bool isLeftOut(const Record &record) const;
  LogicalResult visitLeftOut(const Record &record, const std::vector<bool> &wanted);
  LogicalResult collectRows(const Record &record);
  LogicalResult add(const DatumRef &datum, Type type, DatumRef gradient);
  LogicalResult addLeftOut(const DatumRef &datum, Type type, DatumRef gradient);
  /// Runs a fragment with the recorded operands and results of `record`.
  FailureOr<SmallVector<DatumRef>> runFragment(Fragment &fragment, ArrayRef<DatumRef> arguments,
                                               const Record *record);
  DatumRef filled(Type type, double value);
  DatumRef nothing(Type type);
  DatumRef joined(Type type, ArrayRef<DatumRef> parts, double rest);
  void publish();
  void check(const DatumRef &y);

  GradientsOp op;
  Interpreter &interpreter;
  Ways ways;
  size_t end; // of the operations executed before
  /// The data that depend on an x.
  llvm::DenseSet<const Datum *> varied;
  llvm::DenseMap<const Datum *, DatumRef> adjoints;
  /// The data to which gradients flow along left out paths alone.
  llvm::DenseSet<const Datum *> leftOut;
  std::vector<Passage> passages; // the last one first
  /// For a sparse x: the gathers on paths to y, and their results, the last one first.
  llvm::DenseMap<const Datum *, llvm::SmallDenseSet<Operation *>> gathers;
  llvm::DenseMap<const Datum *, std::vector<std::pair<DatumRef, DatumRef>>> rows;
};
} // namespace

/// Gradients flow through floats and lists.
static bool mayVary(const DatumRef &datum) {
  return datum && (!datum->tensor || datum->tensor->isFloat());
}

void GradientInterpreter::findVaried() {
  for (Value x : op.getXs())
    varied.insert(interpreter.get(x).get());
  for (size_t i = 0; i < end; ++i) {
    const Record &record = interpreter.records[i];
    bool depends = llvm::any_of(
        record.inputs, [&](const DatumRef &input) { return varied.contains(input.get()); });
    for (const DatumRef &output : record.outputs)
      if (depends && mayVary(output))
        varied.insert(output.get());
  }
}

void GradientInterpreter::findGathers() {
  if (op.getSparse().empty())
    return;
  ReadersTowards readers(op.getY());
  for (int64_t position : op.getSparse()) {
    Value x = op.getXs()[position];
    gathers[interpreter.get(x).get()].insert_range(readers.of(x));
  }
}

DatumRef GradientInterpreter::filled(Type type, double value) {
  SmallVector<int64_t> shape;
  for (const DimExpr &size : shapeOf(type))
    shape.push_back(sizeOf(size, interpreter.sizes));
  Tensor tensor(elementTypeOf(type), shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setConstant(i, value);
  return Interpreter::make(std::move(tensor));
}

/// The gradient in place of a missing one: a zero of either sign, because compiled code may have
/// multiplied a zero by a negative number.
DatumRef GradientInterpreter::nothing(Type type) {
  Tensor tensor = *filled(type, 0)->tensor;
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setError(i, kEitherZero);
  return Interpreter::make(std::move(tensor));
}

FailureOr<SmallVector<DatumRef>> GradientInterpreter::runFragment(Fragment &fragment,
                                                                  ArrayRef<DatumRef> arguments,
                                                                  const Record *record) {
  SmallVector<std::pair<Value, DatumRef>> saved;
  auto bind = [&](Value value, DatumRef datum) {
    saved.push_back({value, interpreter.get(value)});
    interpreter.set(value, std::move(datum));
  };
  if (record) {
    Operation *executed = record->op;
    SmallVector<DatumRef> inputs = record->inputs, outputs = record->outputs;
    for (auto [value, datum] : llvm::zip_equal(executed->getOperands(), inputs))
      bind(value, datum);
    for (auto [value, datum] : llvm::zip_equal(executed->getResults(), outputs))
      bind(value, datum);
  }
  for (auto [value, datum] : llvm::zip_equal(fragment.block.getArguments(), arguments))
    bind(value, datum);
  bool wasInGradient = std::exchange(interpreter.isInGradient, true);
  for (Operation &built : fragment.block)
    if (failed(interpreter.run(&built)))
      return failure();
  interpreter.isInGradient = wasInGradient;
  SmallVector<DatumRef> results;
  for (Value result : fragment.results)
    results.push_back(result ? interpreter.get(result) : nullptr);
  for (auto &[value, datum] : llvm::reverse(saved))
    interpreter.set(value, datum);
  return results;
}

LogicalResult GradientInterpreter::add(const DatumRef &datum, Type type, DatumRef gradient) {
  DatumRef &adjoint = adjoints[datum.get()];
  leftOut.erase(datum.get());
  if (!adjoint) {
    adjoint = std::move(gradient);
    return success();
  }
  Fragment *sum = interpreter.scratch->sumOf(type, op.getLoc());
  auto result = runFragment(*sum, {adjoint, gradient}, nullptr);
  if (failed(result))
    return failure();
  adjoints[datum.get()] = result->front();
  return success();
}

/// Adds what has flown along left out paths alone.
LogicalResult GradientInterpreter::addLeftOut(const DatumRef &datum, Type type, DatumRef gradient) {
  bool isAlone = !adjoints.contains(datum.get()) || leftOut.contains(datum.get());
  if (failed(add(datum, type, std::move(gradient))))
    return failure();
  if (isAlone)
    leftOut.insert(datum.get());
  return success();
}

/// A gather of a sparse x returns rows instead of a gradient, zeros if nothing flows.
LogicalResult GradientInterpreter::collectRows(const Record &record) {
  DatumRef gradient = adjoints.lookup(record.outputs[0].get());
  if (!gradient)
    gradient = filled(record.op->getResult(0).getType(), 0);
  const Datum *x = record.inputs[0].get();
  auto parts = runFragment(*interpreter.scratch->rowsOf(record.op), gradient, &record);
  if (failed(parts))
    return failure();
  rows[x].push_back({(*parts)[0], (*parts)[1]});
  return success();
}

/// Zeros in place of the data of a tensor or list.
static DatumRef zerosLike(const Datum &datum) {
  auto zeros = [](const TensorRef &tensor) {
    return std::make_shared<Tensor>(tensor->getElementType(), tensor->getShape());
  };
  Datum result;
  if (datum.tensor)
    result.tensor = zeros(datum.tensor);
  for (const TensorRef &element : datum.list)
    result.list.push_back(zeros(element));
  return std::make_shared<Datum>(std::move(result));
}

/// Marks elements of a gradient that should be zero but are not as undetermined. Null if there are
/// none.
static DatumRef openElements(const DatumRef &gradient) {
  if (!gradient || !gradient->tensor)
    return nullptr; // lists only forward gradients
  const Tensor &tensor = *gradient->tensor;
  Tensor open(tensor.getElementType(), tensor.getShape());
  bool isZero = true;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (tensor.number(i) == 0 && tensor.real(i).isExact())
      continue;
    open.setReal(i, {tensor.number(i), kUndetermined});
    isZero = false;
  }
  return isZero ? nullptr : Interpreter::make(std::move(open));
}

/// Returns true if the call did not execute a path from the operation to the loss, but the graph
/// has one.
bool GradientInterpreter::isLeftOut(const Record &record) const {
  return record.op && ways.mayBeLeftOut(record.op) &&
         llvm::all_of(record.outputs, [&](const DatumRef &output) {
           return !output || !adjoints.contains(output.get()) || leftOut.contains(output.get());
         });
}

/// Handles an operation that is left out: zeros flow back along the path, or what they have become
/// on it.
LogicalResult GradientInterpreter::visitLeftOut(const Record &record,
                                                const std::vector<bool> &wanted) {
  if (!isa<DifferentiableOpInterface>(record.op))
    return success();
  std::vector<bool> isGiven;
  SmallVector<DatumRef> given;
  for (const DatumRef &output : record.outputs) {
    isGiven.push_back(mayVary(output));
    if (!isGiven.back())
      continue;
    DatumRef gradient = adjoints.lookup(output.get());
    given.push_back(gradient ? gradient : zerosLike(*output));
  }
  auto results =
      runFragment(*interpreter.scratch->gradientOf(record.op, isGiven, wanted), given, &record);
  if (failed(results))
    return failure();
  for (auto [i, gradient] : llvm::enumerate(*results))
    if (DatumRef open = openElements(gradient))
      if (failed(addLeftOut(record.inputs[i], record.op->getOperand(i).getType(), open)))
        return failure();
  return success();
}

LogicalResult GradientInterpreter::visit(size_t number) {
  Record record = interpreter.records[number]; // the list of records grows in the loop
  interpreter.setSizes(record.sizes);
  if (record.op && !record.inputs.empty())
    if (auto found = gathers.find(record.inputs[0].get()); found != gathers.end())
      // Earlier executions belong to other iterations of a loop around the gradient.
      if (found->second.erase(record.op))
        return collectRows(record);
  std::vector<bool> isGiven, wanted;
  SmallVector<DatumRef> given;
  for (const DatumRef &output : record.outputs) {
    DatumRef gradient = output ? adjoints.lookup(output.get()) : nullptr;
    isGiven.push_back(bool(gradient));
    if (gradient)
      given.push_back(gradient);
  }
  for (const DatumRef &input : record.inputs)
    wanted.push_back(input && varied.contains(input.get()));
  if (!llvm::is_contained(wanted, true))
    return success();
  if (isLeftOut(record))
    return visitLeftOut(record, wanted);
  if (given.empty())
    return success();
  if (!record.op && leftOut.contains(record.outputs[0].get()))
    return addLeftOut(record.inputs[0], record.type, given[0]);
  if (!record.op) {
    passages.push_back({number, {true}});
    return add(record.inputs[0], record.type, given[0]);
  }
  if (!isa<DifferentiableOpInterface>(record.op))
    return interpreter.fail(Status::Code::Internal,
                            "'" + record.op->getName().getStringRef() + "' has no gradient");
  auto results =
      runFragment(*interpreter.scratch->gradientOf(record.op, isGiven, wanted), given, &record);
  if (failed(results))
    return failure();
  passages.push_back({number, llvm::map_to_vector(*results, [](const DatumRef &gradient) {
                        return bool(gradient);
                      })});
  for (auto [i, gradient] : llvm::enumerate(*results))
    if (gradient && failed(add(record.inputs[i], record.op->getOperand(i).getType(), gradient)))
      return failure();
  return success();
}

/// Concatenates the parts along the first axis, padded if gathers have been removed.
DatumRef GradientInterpreter::joined(Type type, ArrayRef<DatumRef> parts, double rest) {
  Tensor all = *filled(type, rest)->tensor;
  int64_t next = 0;
  for (const DatumRef &part : parts)
    for (int64_t i = 0; i < part->tensor->size(); ++i)
      all.copy(next++, *part->tensor, i);
  return Interpreter::make(std::move(all));
}

void GradientInterpreter::publish() {
  auto result = op.getGrads().begin();
  for (auto [i, x] : llvm::enumerate(op.getXs())) {
    const Datum *datum = interpreter.get(x).get();
    if (!llvm::is_contained(op.getSparse(), int64_t(i))) {
      DatumRef gradient = adjoints.lookup(datum);
      interpreter.set(*result++, gradient ? gradient : nothing(x.getType()));
      continue;
    }
    SmallVector<DatumRef> indices, sums;
    for (auto &[index, row] : rows[datum]) {
      indices.push_back(index);
      sums.push_back(row);
    }
    for (auto &[parts, rest] : {std::pair(indices, -1.0), std::pair(sums, 0.0)}) {
      interpreter.set(*result, joined((*result).getType(), parts, rest));
      ++result;
    }
  }
}

void GradientInterpreter::check(const DatumRef &y) {
  std::reverse(passages.begin(), passages.end());
  GradientCheck check(interpreter, std::move(passages));
  for (auto [i, x] : llvm::enumerate(op.getXs())) {
    DatumRef datum = interpreter.get(x);
    if (DatumRef gradient = adjoints.lookup(datum.get());
        gradient && !llvm::is_contained(op.getSparse(), int64_t(i)))
      check.add(datum, gradient);
  }
  if (std::string text = check.run(y); !text.empty())
    interpreter.options.onWrongGradient(text);
}

LogicalResult GradientInterpreter::run() {
  DatumRef y = interpreter.get(op.getY());
  if (y->failure) { // the record ends at the failure
    for (Value result : op.getGrads())
      interpreter.set(result, y);
    return success();
  }
  findVaried();
  findGathers();
  adjoints[y.get()] = filled(op.getY().getType(), 1);
  SizesRef sizes = interpreter.getSizes();
  for (size_t i = end; i-- > 0;)
    if (failed(visit(i)))
      return failure();
  interpreter.setSizes(sizes);
  publish();
  if (interpreter.options.onWrongGradient)
    check(y);
  return success();
}

static LogicalResult runGradients(GradientsOp op, Interpreter &interpreter) {
  return GradientInterpreter(op, interpreter).run();
}

void addGradients(Handlers &handlers) { handlers.add<GradientsOp>(runGradients); }

} // namespace tfc::reference
