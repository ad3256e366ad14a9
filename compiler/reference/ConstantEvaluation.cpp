//===- ConstantEvaluation.cpp - Executing operations on constants ---------===//
//
// Executes operations outside of a call of an entry, which need not be complete.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/ConstantEvaluation.h"
#include "compiler/reference/Constants.h"
#include "compiler/reference/Interpreter.h"
#include "compiler/reference/Scratch.h"
#include "dialects/dfg/ConstantEvaluation.h"
#include "dialects/dfg/SizeTensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// Returns an element as the bits of its type; std::nullopt unless each correct evaluation computes
/// this number.
static std::optional<APInt> bitsOf(const Tensor &tensor, int64_t i) {
  unsigned width = tensor.getElementType().getIntOrFloatBitWidth();
  if (tensor.error(i) != 0)
    return std::nullopt;
  if (!tensor.isFloat())
    return APInt(64, uint64_t(tensor.integer(i))).zextOrTrunc(width);
  double value = tensor.number(i);
  if (!std::isfinite(value))
    return std::nullopt;
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(cast<FloatType>(tensor.getElementType()).getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return losesInfo ? std::nullopt : std::optional(number.bitcastToAPInt());
}

/// Returns null for tensors that are too large for a reader to know their elements.
static ElementsAttr toConstant(const Tensor &tensor) {
  if (!countSizes(tensor.getShape()))
    return {};
  Type elementType = tensor.getElementType();
  SmallVector<APInt> elements;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    std::optional<APInt> bits = bitsOf(tensor, i);
    if (!bits)
      return {};
    elements.push_back(*bits);
  }
  auto type = RankedTensorType::get(tensor.getShape(), elementType);
  auto floatType = dyn_cast<FloatType>(elementType);
  if (!floatType)
    return DenseElementsAttr::get(type, elements);
  auto numbers = llvm::map_to_vector(elements, [&](const APInt &bits) {
    return llvm::APFloat(floatType.getFloatSemantics(), bits);
  });
  return DenseElementsAttr::get(type, numbers);
}

/// Executes an operation; that of a node runs all of its operations.
static LogicalResult execute(Operation *op, Interpreter &interpreter) {
  auto node = dyn_cast<NodeOp>(op);
  if (!node)
    return interpreter.run(op);
  Block &body = node.getBody().front();
  if (failed(interpreter.run(body)))
    return failure();
  for (auto [result, value] : llvm::zip(node.getResults(), body.getTerminator()->getOperands()))
    interpreter.set(result, interpreter.get(value));
  return success();
}

/// Returns a copy of nodes of a graph that returns values of theirs.
static OwningOpRef<DataflowOp> copyGraph(ArrayRef<Operation *> ops, ArrayRef<Value> results) {
  OpBuilder b(ops.front()->getContext());
  Location location = ops.front()->getLoc();
  DataflowOp graph = DataflowOp::create(b, location, ValueRange(results).getTypes(), ArrayAttr());
  if (graph.getBody().empty())
    graph.getBody().emplaceBlock();
  b.setInsertionPointToEnd(&graph.getBody().front());
  IRMapping copies;
  for (Operation *op : ops)
    b.clone(*op, copies);
  // Nodes use values of later ones.
  graph.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(copies.lookupOrDefault(operand.get()));
  });
  YieldOp::create(b, location, llvm::map_to_vector(results, [&](Value value) {
                    return copies.lookupOrDefault(value);
                  }));
  return graph;
}

static ElementsAttr constantOf(Value value, Interpreter &interpreter) {
  DatumRef datum = interpreter.get(value);
  return datum && datum->tensor ? toConstant(*datum->tensor) : ElementsAttr();
}

namespace {
class Evaluation : public ConstantEvaluationInterface {
public:
  using ConstantEvaluationInterface::ConstantEvaluationInterface;

  SmallVector<ElementsAttr> evaluate(ArrayRef<Operation *> ops,
                                     const llvm::DenseMap<Value, ElementsAttr> &given,
                                     ArrayRef<Value> results, double &work) const override;
};
} // namespace

SmallVector<ElementsAttr> Evaluation::evaluate(ArrayRef<Operation *> ops,
                                               const llvm::DenseMap<Value, ElementsAttr> &given,
                                               ArrayRef<Value> results, double &work) const {
  // Messages of checks are built in the context of a module.
  OwningOpRef<ModuleOp> module(ModuleOp::create(UnknownLoc::get(getContext())));
  SymbolTable symbols(*module);
  Options options;
  State state;
  Interpreter interpreter(symbols, options, state, /*sizes=*/{});
  interpreter.mostWork = work;
  for (auto [value, constant] : given) {
    auto type = cast<RankedTensorType>(constant.getType());
    Tensor tensor(type.getElementType(), type.getShape());
    fill(tensor, constant);
    interpreter.set(value, Interpreter::make(std::move(tensor)));
  }
  SmallVector<Value> values;
  llvm::copy_if(results, std::back_inserter(values), [](Value value) { return bool(value); });
  OwningOpRef<DataflowOp> graph;
  bool isOk = succeeded(interpreter.countVisits(ops.size()));
  if (isOk && llvm::any_of(ops, isRouting)) {
    graph = copyGraph(ops, values);
    isOk = succeeded(interpreter.run(graph->getOperation()));
    if (isOk)
      for (auto [value, result] : llvm::zip_equal(values, graph->getResults()))
        interpreter.set(value, interpreter.get(result));
  } else if (isOk) {
    isOk = llvm::all_of(ops, [&](Operation *op) { return succeeded(execute(op, interpreter)); });
  }
  work -= std::min(interpreter.work, work);
  // After an undetermined condition, other calls may fail.
  if (!isOk || !interpreter.getStatus().isDetermined)
    return {};
  return llvm::map_to_vector(results, [&](Value value) { return constantOf(value, interpreter); });
}

void registerConstantEvaluation(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, DfgDialect *dialect) { dialect->addInterfaces<Evaluation>(); });
}

} // namespace tfc::reference
