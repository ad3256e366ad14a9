//===- Operations.cpp - The meaning of single operations ------------------===//
//
// Computes single operations for both interpreters. Everything else about a call they do
// separately, so that a mistake in one is seen as a difference.
//
//===----------------------------------------------------------------------===//

#include "Interpreters.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::controlflow::test {

std::string toText(const Tensor &tensor) {
  std::string text;
  for (double element : tensor)
    text += (text.empty() ? "" : ", ") + llvm::formatv("{0:f6}", element).str();
  return "[" + text + "]";
}

void State::log(StringRef name, StringRef event, const Tensor &value) {
  outcome->effects[name.str()].push_back((event + " " + toText(value)).str());
}

/// Elementwise, with scalars broadcast.
static Tensor map(const std::vector<Tensor> &operands,
                  llvm::function_ref<double(ArrayRef<double>)> f) {
  size_t size = 1;
  for (const Tensor &operand : operands)
    size = std::max(size, operand.size());
  Tensor result;
  for (size_t i = 0; i < size; ++i) {
    SmallVector<double> elements;
    for (const Tensor &operand : operands)
      elements.push_back(operand.size() == 1 ? operand[0] : operand[i]);
    result.push_back(f(elements));
  }
  return result;
}

static Tensor constant(DenseElementsAttr value) {
  Tensor result;
  if (isa<FloatType>(value.getElementType()))
    for (const APFloat &element : value.getValues<APFloat>())
      result.push_back(element.convertToDouble());
  else
    for (const APInt &element : value.getValues<APInt>())
      result.push_back(element.getBitWidth() == 1 ? element.getZExtValue()
                                                  : element.getSExtValue());
  return result;
}

static std::vector<Tensor> access(Operation *op, const std::vector<Tensor> &operands,
                                  State &state) {
  // Reads are not compared as effects: unused reads have no visible effect.
  if (auto read = dyn_cast<ReadOp>(op))
    return {state.variables[read.getVariable().str()]};
  if (auto assign = dyn_cast<AssignOp>(op)) {
    state.variables[assign.getVariable().str()] = operands[0];
    state.log(assign.getVariable(), "assign", operands[0]);
    return {operands[0]};
  }
  state.log(cast<EnqueueOp>(op).getQueue(), "enqueue", operands[0]);
  return {};
}

std::vector<Tensor> compute(Operation *op, const std::vector<Tensor> &operands, State &state) {
  using Elements = ArrayRef<double>;
  auto by = [&](llvm::function_ref<double(Elements)> f) {
    return std::vector<Tensor>{map(operands, f)};
  };
  return TypeSwitch<Operation *, std::vector<Tensor>>(op)
      .Case([&](ConstantOp c) -> std::vector<Tensor> {
        return {constant(cast<DenseElementsAttr>(c.getValue()))};
      })
      .Case([&](AddOp) { return by([](Elements x) { return x[0] + x[1]; }); })
      .Case([&](SubOp) { return by([](Elements x) { return x[0] - x[1]; }); })
      .Case([&](MulOp) { return by([](Elements x) { return x[0] * x[1]; }); })
      .Case([&](TanhOp) { return by([](Elements x) { return std::tanh(x[0]); }); })
      .Case([&](LessOp) { return by([](Elements x) { return x[0] < x[1]; }); })
      .Case([&](LogicalNotOp) { return by([](Elements x) { return !x[0]; }); })
      .Case([&](LogicalAndOp) { return by([](Elements x) { return x[0] && x[1]; }); })
      .Case([&](LogicalOrOp) { return by([](Elements x) { return x[0] || x[1]; }); })
      .Case([&](SelectOp) { return by([](Elements x) { return x[0] ? x[1] : x[2]; }); })
      .Case([&](BroadcastOp b) -> std::vector<Tensor> {
        return {Tensor(cast<RankedTensorType>(b.getType()).getNumElements(), operands[0][0])};
      })
      .Default([&](Operation *other) { return access(other, operands, state); });
}

} // namespace tfc::controlflow::test
