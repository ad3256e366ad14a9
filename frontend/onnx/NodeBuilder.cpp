// Reads the inputs of the node that is being built, and builds operations that several families of
// rules need.

#include "frontend/onnx/NodeBuilder.h"

#include "dialects/dfg/RunTimeSizes.h"
#include "frontend/onnx/Dtypes.h"
#include "frontend/onnx/EntryBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

const OperationTable<OpRule> &operations() {
  static const OperationTable<OpRule> kRules({{"CastRules.cpp", castRules()},
                                              {"ControlRules.cpp", controlRules()},
                                              {"ElementwiseRules.cpp", elementwiseRules()},
                                              {"ImageRules.cpp", imageRules()},
                                              {"IndexRules.cpp", indexRules()},
                                              {"MatrixRules.cpp", matrixRules()},
                                              {"NeuralRules.cpp", neuralRules()},
                                              {"RandomRules.cpp", randomRules()},
                                              {"ReductionRules.cpp", reductionRules()},
                                              {"SelectionRules.cpp", selectionRules()},
                                              {"SequenceRules.cpp", sequenceRules()},
                                              {"ShapeRules.cpp", shapeRules()},
                                              {"SignalRules.cpp", signalRules()},
                                              {"SliceRules.cpp", sliceRules()},
                                              {"WindowRules.cpp", windowRules()}});
  return kRules;
}

const OpRule *findRule(StringRef op, int64_t version) { return operations().find(op, version); }

NodeBuilder::NodeBuilder(EntryContext &entry, const Node &node, Scope &scope)
    : importer::NodeBuilder(entry.builder, entry.diagnostics, node, entry.locate(node.name)),
      entry(entry), node(node), scope(scope), errorsBefore(entry.diagnostics.getErrorCount()) {}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

NodeValue NodeBuilder::anyIn(unsigned i) {
  if (hasInput(i))
    return scope.find(node.inputs[i]).asInput(i);
  error() << "expected a tensor as input " << i << " [graph-edge]";
  return {};
}

const dfg::SizeTensor *NodeBuilder::sizes(unsigned i) {
  return hasInput(i) ? scope.find(node.inputs[i]).getSizes().get() : nullptr;
}

Value NodeBuilder::inputValue(unsigned i) {
  Value value = materialise(*sizes(i));
  if (value)
    scope.keepValue(node.inputs[i], value);
  return value;
}

std::optional<SmallVector<double>> NodeBuilder::knownReals(unsigned i) {
  if (const dfg::SizeTensor *known = sizes(i))
    if (auto numbers = known->getConstants())
      return SmallVector<double>(numbers->begin(), numbers->end());
  return hasInput(i) ? evaluateReals(scope.find(node.inputs[i]).getValue()) : std::nullopt;
}

std::optional<SmallVector<double>> NodeBuilder::reals(unsigned i) {
  std::optional<SmallVector<double>> numbers = knownReals(i);
  if (!numbers && in(i))
    error() << "expected the value of input " << i
            << " to be known when the graph is compiled [dynamic-shape]";
  return numbers;
}

std::optional<double> NodeBuilder::real(unsigned i) {
  std::optional<SmallVector<double>> numbers = reals(i);
  if (numbers && numbers->size() == 1)
    return numbers->front();
  if (numbers)
    error() << "expected one number for input " << i << ", but got " << numbers->size()
            << " [graph-edge]";
  return std::nullopt;
}

std::optional<SmallVector<Ratio>> NodeBuilder::ratios(unsigned i) {
  if (const dfg::SizeTensor *known = sizes(i))
    return map_to_vector(known->values, [](const dfg::DimExpr &size) { return Ratio{size}; });
  return hasInput(i) ? evaluateRatios(scope.find(node.inputs[i]).getValue()) : std::nullopt;
}

std::optional<dfg::DimExpr> NodeBuilder::foundSize(NodeValue count, const dfg::DimExpr &bound,
                                                   StringRef key) {
  NodeValue sized = sharedResult(key, Value());
  if (!sized && count && !dfg::isOverflow(bound))
    sized = library().compute("_sized", {count}, {{"bound", dfg::Shape{bound}}});
  if (!sized)
    return std::nullopt;
  shareResult(key, Value(), sized);
  return dfg::shapeOf(sized.getType()).front();
}

NodeValue NodeBuilder::inOfRank(unsigned i, size_t rank) {
  NodeValue x = in(i);
  if (!x || shapeOf(x).size() >= rank)
    return x;
  error() << "expected a tensor of at least " << rank << (rank == 1 ? " axis" : " axes")
          << " as input " << i << ", but got " << describe(x.getType()) << " [graph-edge]";
  return {};
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Type NodeBuilder::dtypeOf(int64_t number) {
  Type type = elementTypeOf(context(), number);
  if (!type)
    error() << "tfc does not support tensors of " << dtypeName(number) << " [dtype]";
  return type;
}

Type NodeBuilder::dtype(StringRef attr) { return dtypeOf(node.number(attr)); }

std::optional<SmallVector<NodeValue>> NodeBuilder::buildGraph(StringRef attr,
                                                              ArrayRef<NodeValue> inputs) {
  return EntryBuilder(entry).buildGraph(node.number(attr), inputs, &scope, node.name);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

bool NodeBuilder::isSize(const dfg::DimExpr &value) const {
  auto least = intervalOf(value).first;
  return (least && *least >= 0) || entry.sizes.contains(value.canonical());
}

bool NodeBuilder::isWithin(const dfg::DimExpr &low, const dfg::DimExpr &high) {
  if (isSize(high - low))
    return true;
  // Of a size that an operation finds, only the bound is known.
  if (std::optional<StringRef> name = low.asSymbol(); name && !entry.isFed(low)) {
    dfg::RunTimeSizes bound(entry.builder.currentEntry());
    dfg::BindSizeOp binder = bound.find(*name, entry.builder.currentBlock());
    return binder && isSize(high - binder.getBoundExpr());
  }
  bool isLimit = low.constant().has_value() != high.constant().has_value();
  if (isLimit && isSize(low) && entry.isFed(low) && entry.isFed(high))
    entry.limits.push_back({low, dfg::Comparison::LessEqual, high});
  return false;
}

bool NodeBuilder::require(const dfg::DimExpr &low, const dfg::DimExpr &high) {
  if (entry.isFed(low) && entry.isFed(high)) {
    entry.required.push_back({low, dfg::Comparison::LessEqual, high});
    return true;
  }
  error() << "expected '" << low.str() << "' to be at most '" << high.str()
          << "' in every call [dynamic-shape]";
  return false;
}

dfg::DimExpr NodeBuilder::asSize(const dfg::DimExpr &value) {
  return isWithin(0, value) ? value : dfg::DimExpr::max(value, dfg::DimExpr(0));
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

std::optional<int64_t> NodeBuilder::axisOf(int64_t axis, int64_t rank) {
  std::optional<int64_t> place = dfg::normalizeAxis(axis, rank);
  if (!place)
    error() << "expected an axis of " << rank << ", but got " << axis << " [axis]";
  return place;
}

std::optional<SmallVector<int64_t>> NodeBuilder::axesOf(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> places;
  for (int64_t axis : axes) {
    std::optional<int64_t> place = axisOf(axis, rank);
    if (!place)
      return std::nullopt;
    places.push_back(*place);
  }
  llvm::sort(places);
  if (std::adjacent_find(places.begin(), places.end()) == places.end())
    return places;
  error() << "expected different axes [axis]";
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> NodeBuilder::axesFrom(StringRef attr, unsigned i) {
  if (node.has(attr))
    return SmallVector<int64_t>(ints(attr));
  return hasInput(i) ? ints(i) : SmallVector<int64_t>();
}

} // namespace tfc::onnx
