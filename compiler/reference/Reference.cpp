//===- Reference.cpp - The oracle: executing a graph op by op -------------===//
//
// Implements the interface of the oracle: instances with their variables, and calls that change
// them all or not at all. Interpreter.cpp runs a call.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Reference.h"
#include "compiler/reference/Interpreter.h"
#include "compiler/reference/Scratch.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

struct Instance::Implementation {
  Implementation(ModuleOp module, Options options)
      : module(module), symbols(module), options(std::move(options)) {}

  Status run(EntryOp entry, ArrayRef<Tensor> feeds, std::vector<Tensor> &fetches);
  LogicalResult finish(EntryOp entry, Interpreter &interpreter, std::vector<Tensor> &fetches);

  ModuleOp module;
  SymbolTable symbols;
  Options options;
  State state;
  /// The reason why no call can run.
  Status unusable;
};

Instance::Instance(ModuleOp module, Options options)
    : implementation(std::make_unique<Implementation>(module, std::move(options))) {
  for (auto variable : module.getOps<VariableOp>()) {
    RankedTensorType type = variable.getTensorType();
    if (isBeyondMemory(type.getShape()))
      implementation->unusable = {Status::Code::OutOfMemory,
                                  "the reference interpreter does not have enough memory for " +
                                      toText(type)};
    else
      setVariable(variable.getSymName(), Tensor(type.getElementType(), type.getShape()));
  }
}

Instance::~Instance() = default;

/// Collects the results of the entry.
LogicalResult Instance::Implementation::finish(EntryOp entry, Interpreter &interpreter,
                                               std::vector<Tensor> &fetches) {
  SmallVector<DatumRef> values =
      interpreter.get(entry.getBody().front().getTerminator()->getOperands());
  if (failed(interpreter.require(values)))
    return failure();
  fetches.clear();
  for (const DatumRef &value : values)
    fetches.push_back(*value->tensor);
  return success();
}

/// Gives variables with the same value separate data, because gradients identify values by their
/// data.
static void separate(std::map<std::string, DatumRef> &variables) {
  llvm::DenseSet<const Datum *> seen;
  for (auto &[name, datum] : variables)
    if (!seen.insert(datum.get()).second)
      datum = std::make_shared<Datum>(*datum);
}

Status Instance::Implementation::run(EntryOp entry, ArrayRef<Tensor> feeds,
                                     std::vector<Tensor> &fetches) {
  if (!unusable.isOk())
    return unusable;
  Sizes sizes;
  if (Status status = bindSizes(entry, feeds, sizes); !status.isOk())
    return status;
  auto variables = state.variables;
  separate(state.variables);
  Interpreter interpreter(symbols, options, state, std::move(sizes));
  interpreter.isRecording =
      entry.walk([](GradientsOp) { return WalkResult::interrupt(); }).wasInterrupted();
  Block &body = entry.getBody().front();
  for (auto [argument, feed] : llvm::zip_equal(body.getArguments(), feeds))
    interpreter.set(argument, Interpreter::make(feed));
  bool isOk = succeeded(interpreter.run(body)) && succeeded(finish(entry, interpreter, fetches));
  if (!isOk)
    state.variables = std::move(variables);
  Status status = interpreter.getStatus();
  if (!isOk && status.code != Status::Code::Internal)
    status.message = (entry.getSymName() + ": " + status.message).str();
  return status;
}

Status Instance::initialize() {
  if (!implementation->unusable.isOk())
    return implementation->unusable;
  for (auto entry : implementation->module.getOps<EntryOp>())
    if (entry.getInitializer()) {
      std::vector<Tensor> fetches;
      return implementation->run(entry, {}, fetches);
    }
  return {};
}

Status Instance::call(StringRef name, ArrayRef<Tensor> feeds, std::vector<Tensor> &fetches) {
  for (auto entry : implementation->module.getOps<EntryOp>())
    if (entry.getSymName() == name && !entry.getInitializer())
      return implementation->run(entry, feeds, fetches);
  return {Status::Code::NotFound, ("there is no entry '" + name + "'").str()};
}

const Tensor *Instance::getVariable(StringRef name) const {
  auto found = implementation->state.variables.find(name.str());
  return found == implementation->state.variables.end() ? nullptr : found->second->tensor.get();
}

void Instance::setVariable(StringRef name, Tensor value) {
  implementation->state.variables[name.str()] = Interpreter::make(std::move(value));
}

} // namespace tfc::reference
